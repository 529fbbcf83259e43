// When does a fault fire? The same pure state machine answers in simulated and in real time.
//
// It is told what happens (started, events, other faults) with times on one clock and says when
// its fault is due. Times are durations since `started`.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "run/plan.hpp"

namespace unplug::run {

struct SeenEvent {
  std::string event;
  std::string seat;  // "worker-2"
  std::map<std::string, std::string> fields;
};

class TriggerWatch {
 public:
  explicit TriggerWatch(const FaultPlan& fault);

  void moment(Duration now, Moment moment);  // `before start` and `during recover` are due
  void started(Duration now);
  void event(Duration now, const SeenEvent& seen);
  void fired(Duration now, const std::string& fault_id);  // some fault was fired
  void ended(Duration now, const std::string& fault_id);  // reverted or spent on all instances

  // The moment to fire, once it is known. Constant from then on.
  std::optional<Duration> due() const { return due_; }

  // For `when` with a number: the number asked for and the last one seen.
  std::optional<double> asked() const { return asked_; }
  std::optional<double> reached() const { return reached_; }

 private:
  scenario::Trigger trigger_;
  std::optional<Duration> drawn_;
  std::optional<Duration> due_;
  std::optional<double> asked_, reached_;
  int matched_ = 0;
};

// Does this event match, `nth` apart?
bool matches(const scenario::When& when, const SeenEvent& seen);

// The first number that a `when` asks for, by field name.
std::optional<std::pair<std::string, double>> asked_number(const scenario::Trigger& trigger);

Moment moment_of(const scenario::Trigger& trigger);

// The number that a `when` asks for, as this log line has it.
std::optional<double> number_in(const scenario::Target& target, const scenario::Trigger& trigger,
                                const std::string& line);

// For people: "when frame from worker 2, n >= 8".
std::string trigger_text(const scenario::Trigger& trigger);

}  // namespace unplug::run
