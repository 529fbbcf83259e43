// The job's processes as the observers saw them: (node, boot, pid, start), never a name.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "check/span.hpp"
#include "journal/event.hpp"

namespace unplug::check {

// How a process ended. Unknown never satisfies and never violates an expected code.
struct Ended {
  enum class How { kUnknown, kCode, kSignal };
  How how = How::kUnknown;
  std::int64_t code = 0;
  std::string signal;

  bool zero() const { return how == How::kCode && code == 0; }
  std::string text() const;  // "exit 3", "killed by KILL", "exit unknown"
};

struct ProcessSample {
  std::uint64_t seq = 0;
  Span when;
  std::string state;
  std::optional<std::int64_t> cpu_ms;
};

struct Process {
  std::string node, boot, part, seat, command;
  std::int64_t pid = 0, start = 0;
  Span started;
  std::uint64_t started_seq = 0;
  std::optional<Span> gone;
  std::uint64_t gone_seq = 0;
  Ended ended;
  std::uint64_t exit_seq = 0;          // the line of whoever waited for it, when that told its end
  std::vector<ProcessSample> samples;  // in order, the start among them

  std::string text() const;  // "worker pid 4711 of worker-2 at node2"
};

class Processes {
 public:
  // An `exited` event has a pid and no start: it is of the latest such process that has not told
  // its end yet. What nobody saw live is known by its exit alone.
  void add(const journal::Event& proc, Span when);  // of kind `proc`
  const std::vector<Process>& all() const { return all_; }
  const Process* find(const std::string& node, std::int64_t pid, std::int64_t start) const;

 private:
  void exited(const journal::Event& proc, std::int64_t pid, Span when);

  std::map<std::tuple<std::string, std::string, std::int64_t, std::int64_t>, std::size_t> index_;
  std::vector<Process> all_;
};

}  // namespace unplug::check
