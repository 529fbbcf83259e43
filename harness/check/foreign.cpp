#include "check/foreign.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace unplug::check {
namespace {

using ForeignProcess = ForeignSnapshot::Process;

std::string text_of_process(const ForeignProcess& process) {
  return fmt::format("process {} ({})", process.pid, process.cmd);
}

// The event by which one of our faults had this very process for its victim, or a signal to it.
std::uint64_t touched_by_us(const History& run, const std::string& node,
                            const ForeignProcess& process) {
  for (const FaultRecord& fault : run.faults) {
    const bool victim = fault.node == node && fault.victim.pid == process.pid &&
                        fault.victim.start == process.start;
    if (victim && fault.fired) return fault.states.back().seq;
  }
  for (const Signal& signal : run.signals) {
    if (signal.node == node && signal.pid == process.pid) return signal.seq;
  }
  return 0;
}

class ForeignJudge {
 public:
  explicit ForeignJudge(const History& run) : run_(run) {}

  ForeignAnswer answer() {
    for (const ForeignSnapshot& before : run_.foreign) {
      if (before.when == "before") compare(before);
    }
    return std::move(answer_);
  }

 private:
  void compare(const ForeignSnapshot& before) {
    const ForeignSnapshot* after = nullptr;
    for (const ForeignSnapshot& other : run_.foreign) {
      if (other.node == before.node && other.when == "after" && other.clean) after = &other;
    }
    for (const ForeignProcess& process : before.processes) look_at(before, after, process);
    if (!before.clean || after == nullptr) {
      unknown(fmt::format("what is not ours on {} could not be read {}", before.node,
                          before.clean ? "in the end" : "in the beginning"));
      return;
    }
    for (const auto& [path, sha] : before.files) {
      const auto now = after->files.find(path);
      if (now == after->files.end()) {
        change(after->seq, path, path + " is not ours and is gone");
      } else if (now->second != sha) {
        change(after->seq, path, path + " is not ours and was changed");
      }
    }
  }

  // A process may have ended by itself: that we did it must be seen.
  void look_at(const ForeignSnapshot& before, const ForeignSnapshot* after,
               const ForeignProcess& process) {
    const std::string name = text_of_process(process);
    const std::uint64_t touched = touched_by_us(run_, before.node, process);
    if (touched != 0) {
      change(touched, name, name + " is not ours and was disturbed by a fault");
      return;
    }
    const bool lives = after != nullptr && after->boot == before.boot &&
                       std::any_of(after->processes.begin(), after->processes.end(),
                                   [&](const ForeignProcess& now) {
                                     return now.pid == process.pid && now.start == process.start;
                                   });
    if (after != nullptr && !lives) {
      unknown(fmt::format("{} on {} is not ours and is gone; nothing says who ended it", name,
                          before.node));
    }
  }

  void change(std::uint64_t seq, const std::string& what, const std::string& text) {
    answer_.changed.push_back({seq, what, text});
  }
  void unknown(const std::string& why) {
    if (answer_.unknown.empty()) answer_.unknown = why;
  }

  const History& run_;
  ForeignAnswer answer_;
};

}  // namespace

ForeignAnswer judge_foreign(const History& run) { return ForeignJudge(run).answer(); }

}  // namespace unplug::check
