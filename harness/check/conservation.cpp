// Each item in exactly one state in every snapshot; none lost, invented or doubled. What is not
// ours stays as it was.
//
// A violation counts when two consecutive clean snapshots or the final one show it: a rename
// that a reader met half-way is no loss. Before the list of items was taken nothing can be lost:
// the observer also looked at the folder while the workload was still to come.
#include <fmt/format.h>

#include <map>
#include <set>

#include "check/checks.hpp"
#include "check/foreign.hpp"

namespace unplug::check {
namespace {

// Item and kind of violation -> what it looked like.
using Violations = std::map<std::pair<std::string, std::string>, std::string>;
const std::set<std::string> kNone;

std::string joined(const std::vector<std::string>& states) {
  std::string text;
  for (std::size_t i = 0; i < states.size(); ++i) text += (i == 0 ? "" : " and in ") + states[i];
  return text;
}

Violations violations(const ItemSnapshot& snapshot, const std::set<std::string>& known) {
  std::map<std::string, std::vector<std::string>> states;
  for (const ItemEntry& entry : snapshot.items) states[entry.item].push_back(entry.state);
  Violations found;
  for (const std::string& item : known) {
    if (states.count(item) == 0) found[{item, "lost"}] = item + " in no state: lost";
  }
  for (const auto& [item, in] : states) {
    if (in.size() > 1) found[{item, "doubled"}] = item + " in " + joined(in);
    if (!known.empty() && known.count(item) == 0) {
      found[{item, "invented"}] = item + " was never handed in, and is in " + joined(in);
    }
  }
  return found;
}

// Files of foreign items are there under the very names that they had.
void add_foreign(Violations& found, const ItemSnapshot& before, const ItemSnapshot& now) {
  const std::set<std::string> was(before.foreign.begin(), before.foreign.end());
  const std::set<std::string> is(now.foreign.begin(), now.foreign.end());
  for (const std::string& path : was) {
    if (is.count(path) == 0) found[{path, "foreign"}] = path + " is not ours and is gone";
  }
  for (const std::string& path : is) {
    if (was.count(path) == 0) found[{path, "foreign"}] = path + " is not ours and is new";
  }
}

class Judge {
 public:
  explicit Judge(const History& run)
      : run_(run), before_(run.items_before()), known_(run.handed_in) {}

  Answer answer() {
    look_at_all();
    const ForeignAnswer foreign = judge_foreign(run_);
    for (const ForeignChange& change : foreign.changed) {
      add(change.seq, {change.what, "foreign"}, change.text, true);
    }
    if (!found_.empty()) return {Says::kFail, counts(), found_};
    if (before_ == nullptr) return unknown("no clean snapshot says which items there were");
    if (known_.empty()) return unknown("no item was handed in");
    if (run_.items_final() == nullptr) {
      return unknown("there is no clean snapshot of the end");
    }
    if (!foreign.unknown.empty()) return unknown(foreign.unknown);
    return {Says::kPass,
            fmt::format("{} items, each in exactly one state in {} snapshots{}", known_.size(),
                        clean_, torn_ == 0 ? "" : fmt::format(" ({} torn, not judged)", torn_)),
            {{run_.items_final()->seq, "", "the final snapshot"}}};
  }

 private:
  static Answer unknown(const std::string& why) { return {Says::kCannotTell, why, {}}; }

  void look_at_all() {
    Violations last;
    for (const ItemSnapshot& snapshot : run_.item_snapshots) {
      if (!snapshot.clean) {
        ++torn_;
        continue;
      }
      ++clean_;
      const bool handed_in = handed_in_by(snapshot);
      Violations now = violations(snapshot, handed_in ? known_ : kNone);
      if (handed_in) add_foreign(now, *before_, snapshot);
      const bool final = &snapshot == run_.items_final();
      for (const auto& [what, text] : now) {
        if (final || last.count(what) > 0) add(snapshot.seq, what, text, final);
      }
      last = std::move(now);
    }
  }

  bool handed_in_by(const ItemSnapshot& snapshot) const {
    if (before_ == nullptr) return false;
    return snapshot.when != "poll" || !perhaps_before(snapshot.taken, before_->taken);
  }

  void add(std::uint64_t seq, const std::pair<std::string, std::string>& what,
           const std::string& text, bool final) {
    if (!seen_.insert(what).second) return;
    ++count_[what.second];
    found_.push_back({seq, "", text + (final ? " at the end" : "")});
  }

  std::string counts() const {
    std::string text;
    for (const auto& [kind, n] : count_) {
      text += (text.empty() ? "" : ", ") + (kind == "foreign" ? fmt::format("{} foreign changed", n)
                                                              : fmt::format("{} {}", n, kind));
    }
    return fmt::format("{} (of {} items)", text, known_.size());
  }

  const History& run_;
  const ItemSnapshot* before_;
  std::set<std::string> known_;
  std::set<std::pair<std::string, std::string>> seen_;
  std::map<std::string, int> count_;
  std::vector<Witness> found_;
  int clean_ = 0, torn_ = 0;
};

}  // namespace

Answer conservation(const Question& q) { return Judge(q.run).answer(); }

}  // namespace unplug::check
