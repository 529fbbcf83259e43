// A journal, indexed for judging: what happened, when on the controller's clock, seen by whom.
//
// Built once per judged journal (the run's, and the baseline's); checks only read it. It keeps
// no reference to the events.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "check/clocks.hpp"
#include "check/coverage.hpp"
#include "check/faults.hpp"
#include "check/items.hpp"
#include "check/judge.hpp"
#include "check/processes.hpp"
#include "check/skew.hpp"

namespace unplug::check {

struct Phase {
  std::optional<Span> begin, end;
};

// A counter of the target rose, or an item was finished.
struct Progress {
  std::uint64_t seq = 0;
  std::string seat, text;
  Span when;
  std::string item;             // "" when it is of no item
  std::optional<double> value;  // of the counter; none: an item was finished
};

// Something that the target said in its log.
struct Said {
  std::uint64_t seq = 0;
  std::string event, seat, text;
  Span when;
  std::map<std::string, std::string> fields;
};

// A signal that somebody sent.
struct Signal {
  std::uint64_t seq = 0;
  std::string node;
  std::int64_t pid = 0;
  std::string sig, by;
  Span when;
};

// A file of a checkpoint as `unplug` hashed it, or the step that the target itself points to.
struct CheckpointFile {
  std::uint64_t seq = 0;
  bool pointer = false;
  std::string when, seat;
  std::optional<std::int64_t> step;
  std::string path, sha, listed;  // listed: the sum in the manifest
};

// How a user's own command ended (check `command`).
struct CommandRun {
  std::uint64_t seq = 0;
  std::string node, name, end;
  std::optional<std::int64_t> status;
  std::string why;
};

// One `files` or `system` snapshot of a node.
struct NodeSnapshot {
  std::uint64_t seq = 0;
  std::string node, when, scope;
  bool clean = true, truncated = false;
  std::map<std::string, std::vector<std::string>> lists;  // files, ports, mounts
};

// What was on a node and not ours: files of the items' folder, processes in the target's folders.
struct ForeignSnapshot {
  struct Process {
    std::int64_t pid = 0, start = 0;
    std::string cmd;
  };
  std::uint64_t seq = 0;
  std::string node, when, boot;
  bool clean = true;
  std::map<std::string, std::string> files;  // path -> sha
  std::vector<Process> processes;
};

struct Output {
  std::uint64_t seq = 0;
  std::string item, path, sha, frames;
};

struct BaselineRef {
  std::uint64_t seq = 0;
  bool passed = false;
  std::string why;
};

struct History {
  Clocks clocks;
  Coverage coverage;
  std::map<std::string, std::string> seats;      // seat -> node
  std::map<std::string, std::string> hostnames;  // node -> what it calls itself
  bool embedded = false;
  std::map<std::string, Phase> phases;
  std::vector<FaultRecord> faults;  // in the order in which they were planned
  std::vector<Skew> skews;          // of those that were fired together
  Processes processes;
  std::vector<ItemSnapshot> item_snapshots;
  std::map<std::string, std::vector<Sighting>> sightings;  // item -> states seen
  std::vector<Work> works;
  // The items of this run: those of the list, and what its workers had begun before it was taken.
  // On a busy machine a fault that is armed on its node may fire before that. Empty without a list.
  std::set<std::string> handed_in;
  std::vector<Progress> progress;
  std::vector<Said> said;
  std::vector<NodeSnapshot> node_snapshots;
  std::vector<ForeignSnapshot> foreign;
  std::vector<Output> outputs;
  std::vector<Signal> signals;
  std::vector<CheckpointFile> checkpoints;
  std::vector<CommandRun> commands;
  std::optional<BaselineRef> baseline_ref;
  std::optional<std::string> closed;  // reason of run_closed; none: the journal is broken off
  std::string closed_why;
  std::string broken;       // why the chain of lines does not hold, or ""
  std::optional<Span> end;  // of the last event

  std::optional<Span> started() const;  // phase `run` began
  std::vector<const FaultRecord*> faults_of(const std::vector<std::string>& ids) const;
  const ItemSnapshot* items_before() const;  // the items that exist
  const ItemSnapshot* items_final() const;   // the last clean one of `after`
  std::string node_of(const std::string& seat) const;
  // The id of the target's first observer of a kind ("log", "files", "processes").
  std::string observer(const std::string& kind) const;
  // "4.2 s after start"
  std::string since_start(Span when) const;

  std::map<std::string, std::string> observers;  // kind -> id
};

History history_of(const journal::Journal& journal, const std::vector<journal::Event>& healed,
                   const Case& c);

}  // namespace unplug::check
