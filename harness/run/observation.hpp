// From what the nodes' observers see to events: target events, work, items, processes, coverage.
//
// Also knows what the run must know while it goes on: the items' states, and whether the target
// is at rest. Owns one Spool per node.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/ere.hpp"
#include "run/exit_lines.hpp"
#include "run/item_folder.hpp"
#include "run/plan_trigger.hpp"
#include "run/spool.hpp"

namespace unplug::run {

// observe.conf of one node (docs/node-protocol.md).
std::string observe_conf(const scenario::Bundle& bundle, const Plan& plan, const std::string& node);

class Observation {
 public:
  using EventListener = std::function<void(const SeenEvent&)>;

  Observation(Stage& stage, EventListener on_event);
  ~Observation();
  Observation(const Observation&) = delete;
  Observation& operator=(const Observation&) = delete;

  asio::awaitable<std::string> start();
  asio::awaitable<void> stop();

  // Items that were there before this run put anything in: none of ours, whatever becomes of them.
  void leave_alone(std::set<std::string> items) { foreign_ = std::move(items); }

  // The items that exist now; they are what the run is about. Journals the snapshot `before`.
  void handed_in(const journal::Json& files);
  // Journals a snapshot `after`; null files: the folder could not be read, or kept changing.
  void at_capture(const journal::Json& files);

  const ItemFolder& folder() const { return folder_; }

  // Every item handed in is in a terminal state. Never true before handed_in().
  bool at_rest() const { return at_rest_; }
  const std::map<std::string, std::string>& items() const { return states_; }
  ItemFiles read_items(const journal::Json& files) const {  // [[path, size], ...]
    return folder_.read(files, expected_, foreign_);
  }

 private:
  void heard(const std::string& node, const journal::Json& line);
  void take(const std::string& node, const journal::Json& line);
  void log_line(const std::string& node, const journal::Json& line);
  void files(const std::string& node, const journal::Json& line);
  void process(const std::string& node, const journal::Json& line);
  void coverage(const std::string& node, const journal::Json& line);
  void observer_event(const std::string& node, const char* edge, std::int64_t from, std::int64_t to,
                      const std::string& why);
  void note_states(const ItemFiles& seen, const std::string& node,
                   const std::optional<journal::NodeTime>& time);
  void append(const std::string& node, const journal::Json& line, std::string kind,
              journal::Json data);
  std::optional<journal::NodeTime> time_of(const std::string& node,
                                           const journal::Json& line) const;

  struct NodeState {
    std::string boot;
    std::int64_t begin = 0, last = 0;
  };

  Stage& stage_;
  EventListener on_event_;
  std::vector<std::shared_ptr<Spool>> spools_;
  std::map<std::string, NodeState> nodes_;
  std::vector<std::pair<const scenario::EventPattern*, Ere>> patterns_;
  ExitLines exits_;
  ItemFolder folder_;
  std::set<std::string> foreign_;   // items that were there before
  std::set<std::string> expected_;  // items handed in
  std::map<std::string, std::string> states_;
  bool at_rest_ = false;
};

}  // namespace unplug::run
