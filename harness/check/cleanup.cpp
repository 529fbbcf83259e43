// Residue: what is there after, was not before, and is neither kept by the target nor allowed.
//
// What the undisturbed baseline leaves as well is told apart, and fails all the same.
#include <fmt/format.h>
#include <fnmatch.h>

#include <map>
#include <set>

#include "check/checks.hpp"

namespace unplug::check {
namespace {

struct Residue {
  std::uint64_t seq = 0;
  std::string node, kind, name;  // kind: file, port, mount, process

  std::string text() const { return fmt::format("{} {} at {}", kind, name, node); }
};

struct Leavings {
  std::vector<Residue> residue;
  std::vector<std::string> unknown;  // why something cannot be told
};

const std::map<std::string, std::string> kListOf = {
    {"files", "file"}, {"ports", "port"}, {"mounts", "mount"}};

class Collector {
 public:
  Collector(const History& history, const scenario::Target& target,
            const scenario::Expectation& expectation)
      : history_(history), target_(target), expectation_(expectation) {}

  Leavings collect() {
    for (const std::string& node : nodes()) {
      compare(node, "files");
      compare(node, "system");
    }
    find_processes();
    return std::move(leavings_);
  }

 private:
  std::set<std::string> nodes() const {
    std::set<std::string> all;
    for (const auto& [seat, node] : history_.seats) all.insert(node);
    return all;
  }

  const NodeSnapshot* last(const std::string& node, const char* when, const std::string& scope) {
    const NodeSnapshot* found = nullptr;
    for (const NodeSnapshot& s : history_.node_snapshots) {
      if (s.node == node && s.when == when && s.scope == scope) found = &s;
    }
    return found != nullptr && found->clean ? found : nullptr;
  }

  void compare(const std::string& node, const std::string& scope) {
    const NodeSnapshot* before = last(node, "before", scope);
    const NodeSnapshot* after = last(node, "after", scope);
    if (before == nullptr || after == nullptr || before->truncated) {
      unknown(fmt::format("no whole list of {} of {} {}",
                          scope == "files" ? "files" : "ports and mounts", node,
                          before == nullptr || before->truncated ? "before" : "after"));
      return;
    }
    if (after->truncated) unknown("the list of files of " + node + " after was cut off");
    for (const auto& [list, names] : after->lists) {
      const auto was = before->lists.find(list);
      const std::set<std::string> old =
          was == before->lists.end()
              ? std::set<std::string>()
              : std::set<std::string>(was->second.begin(), was->second.end());
      for (const std::string& name : names) {
        if (old.count(name) == 0) add({after->seq, node, kListOf.at(list), name});
      }
    }
  }

  void find_processes() {
    std::set<std::string> blind;
    for (const Process& process : history_.processes.all()) {
      if (process.gone || rebooted_since(process)) continue;
      if (!history_.coverage.ended(process.node)) {
        blind.insert(process.node);
        continue;
      }
      const std::string name = fmt::format("{} ({}{})", process.pid,
                                           process.part.empty() ? process.command : process.part,
                                           process.seat.empty() ? "" : " of " + process.seat);
      add({process.samples.empty() ? process.started_seq : process.samples.back().seq, process.node,
           "process", name});
    }
    for (const std::string& node : nodes()) {
      if (!history_.coverage.ended(node)) blind.insert(node);
    }
    for (const std::string& node : blind) {
      unknown("processes of " + node + " were not watched to the end");
    }
  }

  bool rebooted_since(const Process& process) const {
    for (const Process& other : history_.processes.all()) {
      if (other.node == process.node && other.boot != process.boot &&
          process.started.hi < other.started.lo)
        return true;
    }
    return false;
  }

  void add(const Residue& residue) {
    if (residue.kind == "file" && kept(residue.name)) return;
    for (const std::string& glob : expectation_.allow) {
      if (matches(glob, residue.name)) return;
    }
    leavings_.residue.push_back(residue);
  }

  bool kept(const std::string& name) const {
    for (const std::string& prefix : target_.keeps) {
      if (name.rfind(prefix, 0) == 0) return true;
    }
    return false;
  }

  // "work:*.part", or without the folder's name; a trailing "/" allows all below it.
  static bool matches(const std::string& glob, const std::string& name) {
    const std::string pattern = !glob.empty() && glob.back() == '/' ? glob + "*" : glob;
    if (fnmatch(pattern.c_str(), name.c_str(), 0) == 0) return true;
    const auto colon = name.find(':');
    return colon != std::string::npos && fnmatch(pattern.c_str(), name.c_str() + colon + 1, 0) == 0;
  }

  void unknown(const std::string& why) { leavings_.unknown.push_back(why); }

  const History& history_;
  const scenario::Target& target_;
  const scenario::Expectation& expectation_;
  Leavings leavings_;
};

std::set<std::string> undisturbed(const Question& q) {
  std::set<std::string> names;
  if (q.baseline == nullptr) return names;
  for (const Residue& r : Collector(*q.baseline, q.target, q.expectation).collect().residue) {
    if (r.kind != "process") names.insert(r.text());
  }
  return names;
}

// A fault that was not undone in time, although somebody may have undone it since.
const FaultRecord* stranded_once(const History& run) {
  for (const FaultRecord& fault : run.faults) {
    if (fault.last("stranded") != nullptr) return &fault;
  }
  return nullptr;
}

}  // namespace

Answer cleanup(const Question& q) {
  const Leavings left = Collector(q.run, q.target, q.expectation).collect();
  const std::set<std::string> also = undisturbed(q);
  Answer answer;
  std::size_t undisturbed_too = 0;
  for (const Residue& residue : left.residue) {
    const bool also_undisturbed = also.count(residue.text()) > 0;
    undisturbed_too += also_undisturbed ? 1 : 0;
    answer.witnesses.push_back(
        {residue.seq, "", residue.text() + (also_undisturbed ? " (also_undisturbed)" : "")});
  }
  if (!left.residue.empty()) {
    // Nobody can clean up under a fault of ours that stays.
    const FaultRecord* stranded = stranded_once(q.run);
    answer.says = stranded == nullptr ? Says::kFail : Says::kCannotTell;
    answer.text = fmt::format("{} left behind", left.residue.size());
    if (stranded != nullptr) answer.text += ", while " + stranded->instance + " was not undone";
    if (undisturbed_too > 0) {
      answer.text += fmt::format(", {} of them by the undisturbed run too", undisturbed_too);
    }
  } else if (!left.unknown.empty()) {
    answer.text = some_of(left.unknown);
  } else {
    answer.says = Says::kPass;
    answer.text = "no file, port, mount or process left behind";
  }
  return answer;
}

}  // namespace unplug::check
