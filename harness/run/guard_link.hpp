// Our end of one guard: what we ask of it, and what it says, journaled as it says it.
//
//   FaultLife --fire/renew/revert--> GuardLink ==stdin==> guard (on the node, owns the undo)
//                    <--state------            <=stdout==
//
// The guard alone undoes; we only ask. When the link is lost the guard goes on without us, and
// asking goes through the fault's folder instead (docs/node-protocol.md).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "run/context.hpp"

namespace unplug::run {

// What a guard has said so far.
struct GuardSaid {
  bool armed = false;
  bool fired = false;
  bool not_fired = false;
  bool reverting = false;
  bool reverted = false;
  bool spent = false;
  bool gone = false;  // its stream has ended
  int gen = 0;
  std::string why;                   // of not_fired, reverting or still_broken
  std::string line;                  // the log line of a trigger armed on the node
  std::int64_t nt = 0;               // node's clock when it fired
  std::string boot;                  // of the node
  journal::Json victim;              // part, seat, pid, start
  BootClock::time_point fired_by{};  // ours, when we heard of it

  bool over() const { return reverted || spent; }
};

class GuardLink : public std::enable_shared_from_this<GuardLink> {
 public:
  GuardLink(Stage& stage, const FaultPlan& fault) : stage_(stage), fault_(fault) {}

  // Starts the guard and waits until it owns the fault and its firer answers. "" or why not.
  asio::awaitable<std::string> start(Deadline deadline);

  // Tells an armed guard to let its trigger on the node loose.
  asio::awaitable<bool> loose_trigger(Deadline deadline);

  asio::awaitable<bool> fire(Deadline deadline);

  // Asks for the undo; by the stream while it stands, else by the fault's folder. The answer
  // shows in said().
  asio::awaitable<void> ask_revert(Deadline deadline);

  // After a lost stream: what became of the fault, from its folder.
  asio::awaitable<void> look(Deadline deadline);

  const GuardSaid& said() const { return said_; }
  // It may own the fault: it was started and did not end before it said so.
  bool may_own() const { return stream_ && (said_.armed || !said_.gone); }

  // The run goes on without it: nothing is journaled any more. The guard sees its channel end,
  // which is silence to it.
  void close();

 private:
  static asio::awaitable<void> listen(std::shared_ptr<GuardLink> self);
  static asio::awaitable<void> renew(std::shared_ptr<GuardLink> self);
  void heard(const std::string& line);
  void take(const journal::Json& said);
  void journal(const std::string& state, journal::Json more, const journal::Json& said) const;

  Stage& stage_;
  const FaultPlan& fault_;
  std::unique_ptr<node::Stream> stream_;
  GuardSaid said_;
  BootClock::time_point renewed_{};
  bool lease_lost_ = false;
  std::set<std::string> heard_;  // every line so far, be it from the stream or from its log
  bool closed_ = false;
};

// The fixed part of a `fault` event's data.
journal::Json fault_data(const FaultPlan& fault, const std::string& role, const std::string& state,
                         const std::string& by);

}  // namespace unplug::run
