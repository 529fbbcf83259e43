// A user's own command on a node: exit 0 is a pass. It ran at capture; here only its outcome is
// read, and one that was lost says nothing.
#include <fmt/format.h>

#include "check/checks.hpp"
#include "check/timing.hpp"

namespace unplug::check {

Answer command(const Question& q) {
  const std::string name = std::to_string(q.index);
  const CommandRun* ran = nullptr;
  for (const CommandRun& run : q.run.commands) {
    if (run.name == name) ran = &run;
  }
  if (ran == nullptr) return {Says::kCannotTell, "the command was never run", {}};
  const std::string at = " at " + ran->node;
  const auto say = [&](Says says, const std::string& how) {
    return Answer{says, how + at, {{ran->seq, "", q.expectation.run + ": " + how}}};
  };
  if (ran->end == "exited" && ran->status) {
    return say(*ran->status == 0 ? Says::kPass : Says::kFail, fmt::format("exit {}", *ran->status));
  }
  if (ran->end == "signalled") return say(Says::kFail, "ended by a signal");
  if (ran->end == "timed_out") {
    return say(Says::kFail, "did not end within " + people(limit(q).count()));
  }
  return say(Says::kCannotTell,
             "its outcome is not known" + (ran->why.empty() ? "" : ": " + ran->why));
}

}  // namespace unplug::check
