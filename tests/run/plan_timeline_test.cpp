// In simulated time, over thousands of seeds: every fire has an undo, no two faults hold one
// thing, and it ends healed. A false pass would be a generator whose faults never fire: the last
// test counts what happened.
#include "run/plan_timeline.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <set>

#include "base/error.hpp"
#include "run/plan_builder.hpp"

namespace unplug::run {
namespace {

using namespace std::chrono_literals;
using Kind = Step::Kind;

SimulatedEvent frame(Duration t, const std::string& seat, int n) {
  return {t, {"frame", seat, {{"item", "shot-1"}, {"n", std::to_string(n)}}}};
}

scenario::When frame_of(const std::string& from, int n) {
  scenario::When when;
  when.event = "frame";
  when.from = scenario::parse_selector(from);
  when.numbers = {{"n", n}};
  return when;
}

std::vector<Kind> kinds_of(const std::vector<Step>& steps, const std::string& instance) {
  std::vector<Kind> kinds;
  for (const Step& step : steps) {
    if (step.instance == instance) kinds.push_back(step.kind);
  }
  return kinds;
}

Duration time_of(const std::vector<Step>& steps, const std::string& instance, Kind kind) {
  for (const Step& step : steps) {
    if (step.instance == instance && step.kind == kind) return step.t;
  }
  return Duration{-1};
}

TEST(Timeline, FiresAtTheFirstEventThatMatchesAndNotBefore) {
  const auto bundle = farm({fault("kill", "process_kill", "worker 1", frame_of("worker 2", 8))});
  const auto steps = timeline(plan(bundle, 1),
                              {frame(1s, "worker-2", 7), frame(2s, "worker-1", 9),
                               frame(3s, "worker-2", 9), frame(4s, "worker-2", 10)},
                              60s);
  EXPECT_EQ(time_of(steps, "kill", Kind::kFire), 3s);
  EXPECT_EQ(kinds_of(steps, "kill"), (std::vector{Kind::kArm, Kind::kFire, Kind::kSpent}));
}

TEST(Timeline, HoldsProvesAndReverts) {
  const auto bundle = farm({fault("f", "process_freeze", "worker 2", scenario::At{2s}, 3s)});
  const auto steps = timeline(plan(bundle, 1), {}, 60s);
  EXPECT_EQ(kinds_of(steps, "f"),
            (std::vector{Kind::kArm, Kind::kFire, Kind::kVerify, Kind::kVerify, Kind::kVerify,
                         Kind::kVerify, Kind::kRevert, Kind::kVerifyReverted}));
  EXPECT_EQ(time_of(steps, "f", Kind::kRevert), 5s);
}

TEST(Timeline, RevertsWhatStillHoldsAtTheEnd) {
  const auto bundle = farm({fault("f", "process_freeze", "worker 2", scenario::At{2s}, 30s)});
  const auto steps = timeline(plan(bundle, 1), {}, 10s);
  EXPECT_EQ(time_of(steps, "f", Kind::kRevert), 10s);
  EXPECT_EQ(time_of(steps, "f", Kind::kVerifyReverted), 11s);
}

TEST(Timeline, SaysThatAnEventNeverCame) {
  const auto bundle = farm({fault("kill", "process_kill", "worker 1", frame_of("worker 2", 8))});
  const auto steps = timeline(plan(bundle, 1), {}, 10s);
  EXPECT_EQ(kinds_of(steps, "kill"), (std::vector{Kind::kArm, Kind::kNotTriggered}));
}

TEST(Timeline, FiresAfterAnotherHasEndedAndTogetherWithIt) {
  const auto bundle =
      farm({fault("first", "process_freeze", "worker 1", scenario::At{1s}, 2s),
            fault("with", "process_kill", "worker 2", scenario::With{"first"}),
            fault("then", "process_freeze", "worker 1", scenario::After{"first", 500ms}, 1s)});
  const auto steps = timeline(plan(bundle, 1), {}, 60s);
  EXPECT_EQ(time_of(steps, "with", Kind::kFire), 1s);
  // 1 s + held 2 s + proved reverted 1 s later + 500 ms.
  EXPECT_EQ(time_of(steps, "then", Kind::kFire), 4500ms);
}

TEST(Timeline, CountsMatchesAndWaitsPlus) {
  scenario::When when = frame_of("worker 2", 1);
  when.nth = 3;
  when.plus = 300ms;
  const auto bundle = farm({fault("kill", "process_kill", "worker 1", when)});
  const auto steps = timeline(plan(bundle, 1),
                              {frame(1s, "worker-2", 1), frame(2s, "worker-2", 2),
                               frame(3s, "worker-2", 3), frame(4s, "worker-2", 4)},
                              60s);
  EXPECT_EQ(time_of(steps, "kill", Kind::kFire), 3300ms);
}

// ---- thousands of seeds

scenario::Trigger any_trigger(std::mt19937_64& random, const std::vector<scenario::Fault>& before) {
  switch (random() % (before.empty() ? 3 : 5)) {
    case 0:
      return scenario::At{std::chrono::milliseconds{random() % 10'000}};
    case 1:
      return scenario::Between{1s, std::chrono::milliseconds{1000 + random() % 20'000}};
    case 2:
      return frame_of("worker 2", static_cast<int>(random() % 40));
    case 3:
      return scenario::After{before.back().id, std::chrono::milliseconds{random() % 2'000}};
    default:
      return scenario::With{before.back().id};
  }
}

scenario::Bundle any_scenario(std::mt19937_64& random) {
  constexpr std::array kVictims = {"worker 1",   "worker 2",   "renderer 1",
                                   "renderer 2", "any worker", "all worker"};
  std::vector<scenario::Fault> faults;
  const auto count = 1 + random() % 4;
  for (std::uint64_t i = 0; i < count; ++i) {
    const bool lasting = random() % 2 == 0;
    const Duration hold = lasting ? 0ms : std::chrono::milliseconds{100 + random() % 8'000};
    faults.push_back(fault("f" + std::to_string(i), lasting ? "process_kill" : "process_freeze",
                           kVictims[random() % kVictims.size()], any_trigger(random, faults),
                           hold));
  }
  return farm(std::move(faults));
}

std::vector<SimulatedEvent> any_world(std::mt19937_64& random) {
  std::vector<SimulatedEvent> world;
  Duration t{};
  const auto frames = random() % 40;
  for (std::uint64_t n = 0; n < frames; ++n) {
    t += std::chrono::milliseconds{random() % 500};
    world.push_back(frame(t, random() % 2 == 0 ? "worker-1" : "worker-2", static_cast<int>(n)));
  }
  return world;
}

// What one instance holds while it is fired and not reverted.
std::string held_by(const Plan& planned, const std::string& instance) {
  for (const FaultPlan& fault : planned.faults) {
    if (fault.instance == instance && !fault.lasting) {
      return fault.victim->part + "@" + fault.victim->seat.id();
    }
  }
  return "";
}

struct Counted {
  int fired = 0, reverted = 0, spent = 0, not_triggered = 0, refused = 0;
};

void check_one(std::uint64_t seed, Counted& counted) {
  std::mt19937_64 random(seed);
  const scenario::Bundle bundle = any_scenario(random);
  std::optional<Plan> planned;
  try {
    planned = plan(bundle, seed);
  } catch (const Error&) {
    ++counted.refused;  // two faults could hold one thing
    return;
  }
  const Duration end = std::chrono::milliseconds{random() % 40'000};
  const auto steps = timeline(*planned, any_world(random), end);
  std::map<std::string, std::vector<Kind>> lives;
  std::set<std::string> held;
  for (const Step& step : steps) {
    if (step.kind != Kind::kVerify) lives[step.instance].push_back(step.kind);
    const std::string thing = held_by(*planned, step.instance);
    if (step.kind == Kind::kFire && !thing.empty()) {
      EXPECT_TRUE(held.insert(thing).second) << "seed " << seed << ": two faults hold " << thing;
    }
    if (step.kind == Kind::kVerifyReverted) held.erase(thing);
  }
  EXPECT_TRUE(held.empty()) << "seed " << seed << " does not end healed";
  for (const auto& [instance, life] : lives) {
    const bool none = life == std::vector{Kind::kArm, Kind::kNotTriggered};
    const bool lasting = life == std::vector{Kind::kArm, Kind::kFire, Kind::kSpent};
    const bool undone =
        life == std::vector{Kind::kArm, Kind::kFire, Kind::kRevert, Kind::kVerifyReverted};
    EXPECT_TRUE(none || lasting || undone) << "seed " << seed << ": " << instance;
    counted.fired += none ? 0 : 1;
    counted.not_triggered += none ? 1 : 0;
    counted.spent += lasting ? 1 : 0;
    counted.reverted += undone ? 1 : 0;
  }
}

TEST(Timeline, UndoesEveryFireAndEndsHealedWhateverTheSeed) {
  Counted counted;
  for (std::uint64_t seed = 0; seed < 5000 && !testing::Test::HasFailure(); ++seed) {
    check_one(seed, counted);
  }
  EXPECT_GT(counted.fired, 2000);
  EXPECT_GT(counted.reverted, 500);
  EXPECT_GT(counted.spent, 500);
  EXPECT_GT(counted.not_triggered, 500);
  EXPECT_GT(counted.refused, 100);
}

}  // namespace
}  // namespace unplug::run
