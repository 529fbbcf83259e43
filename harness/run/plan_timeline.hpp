// A plan in simulated time: what is armed, fired and undone when, given when events happen.
//
// Pure. Tests run it over thousands of seeds: every fire has an undo, no two faults hold one
// thing, and it ends healed.
#pragma once

#include <string>
#include <vector>

#include "run/plan.hpp"
#include "run/plan_trigger.hpp"

namespace unplug::run {

struct SimulatedEvent {
  Duration t{};  // since `started`
  SeenEvent event;
};

struct Step {
  enum class Kind { kArm, kFire, kVerify, kRevert, kVerifyReverted, kSpent, kNotTriggered };
  Duration t{};
  std::string instance;
  Kind kind = Kind::kArm;
  bool operator==(const Step&) const = default;
};

// `end` is when the target is at rest or the run's limit is reached: what holds then is
// reverted, what waits then is not triggered. Events must be sorted by time.
std::vector<Step> timeline(const Plan& plan, const std::vector<SimulatedEvent>& world,
                           Duration end);

}  // namespace unplug::run
