// Outputs equal the undisturbed baseline's: catches results that are wrong and quiet.
#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <map>
#include <set>

#include "check/checks.hpp"

namespace unplug::check {
namespace {

using Outputs = std::map<std::pair<std::string, std::string>, const Output*>;

Outputs by_name(const History& history) {
  Outputs outputs;
  for (const Output& output : history.outputs) outputs[{output.item, output.path}] = &output;
  return outputs;
}

std::string name_of(const Output& output) {
  return output.item.empty() ? output.path : output.item + " (" + output.path + ")";
}

std::string short_sha(const std::string& sha) { return sha.substr(0, 12); }

// Cancelled, as the scenario wanted: what became of it is for `cancellation` to say.
bool was_to_be_cancelled(const Question& q, const ItemEntry& entry) {
  if (q.scenario == nullptr || !q.target.items || q.target.items->cancelled.empty()) return false;
  if (entry.state != q.target.items->cancelled) return false;
  const auto wants = [&](const scenario::Expectation& expectation) {
    if (expectation.check != "cancellation") return false;
    const auto names = [&](const std::string& glob) {
      return ::fnmatch(glob.c_str(), entry.item.c_str(), 0) == 0;
    };
    return expectation.items.empty() || std::ranges::any_of(expectation.items, names);
  };
  return std::ranges::any_of(q.scenario->expect, wants);
}

class Comparison {
 public:
  explicit Comparison(const Question& q)
      : q_(q), frames_(q.expectation.compare == "frames"), run_(by_name(q.run)) {}

  Answer answer() {
    if (const std::string why = no_baseline(); !why.empty()) return {Says::kCannotTell, why, {}};
    expected_ = by_name(*q_.baseline);
    if (expected_.empty()) return {Says::kCannotTell, "the baseline has no outputs", {}};
    find_failed();
    compare();
    find_extra();
    if (!wrong_.empty()) return {Says::kFail, summary(), wrong_};
    if (!unknown_.empty()) return {Says::kCannotTell, unknown_.front().text, unknown_};
    return {Says::kPass,
            fmt::format("{} outputs, {} equal to the baseline's", run_.size(),
                        frames_ ? "each frame" : "each byte"),
            {}};
  }

 private:
  std::string no_baseline() const {
    if (q_.baseline == nullptr) return "there is no baseline to compare with";
    if (!q_.baseline->broken.empty()) {
      return "the baseline's journal does not hold: " + q_.baseline->broken;
    }
    if (!q_.run.baseline_ref) return "the journal names no baseline";
    if (q_.run.baseline_ref->passed) return "";
    return "the baseline did not pass: " + q_.run.baseline_ref->why;
  }

  // Absence counts only when someone looked: the files were collected to the end.
  bool captured() const {
    const auto phase = q_.run.phases.find("capture");
    return phase != q_.run.phases.end() && phase->second.end.has_value();
  }

  void compare() {
    for (const auto& [name, want] : expected_) {
      const auto found = run_.find(name);
      if (found == run_.end()) {
        missing(*want);
      } else {
        compare(*want, *found->second);
      }
    }
  }

  void compare(const Output& want, const Output& have) {
    const std::string& expected = frames_ ? want.frames : want.sha;
    const std::string& got = frames_ ? have.frames : have.sha;
    if (expected.empty() || got.empty()) {
      unknown_.push_back(
          {have.seq, "",
           fmt::format("{}: its {} is not known{}", name_of(have),
                       frames_ ? "frames' hash" : "hash", got.empty() ? "" : " in the baseline")});
    } else if (expected != got) {
      ++differ_;
      wrong_.push_back(
          {have.seq, "",
           fmt::format("{}: {} {}, the baseline has {}", name_of(have),
                       frames_ ? "frames" : "sha256", short_sha(got), short_sha(expected))});
      wrong_.push_back({want.seq, "baseline", name_of(want) + " as it should be"});
    }
  }

  void missing(const Output& want) {
    if (cancelled_.contains(want.item)) return;
    const Witness witness{want.seq, "baseline", name_of(want) + " is in the baseline only"};
    if (!q_.run.started()) {
      unknown_.push_back(
          {want.seq, "baseline",
           name_of(want) + ": the target never came up, so nothing was asked of it"});
    } else if (captured()) {
      ++missing_;
      wrong_.push_back(witness);
    } else {
      unknown_.push_back({want.seq, "baseline", name_of(want) + ": outputs were not collected"});
    }
  }

  void find_extra() {
    for (const auto& [name, have] : run_) {
      if (expected_.count(name) > 0) continue;
      ++extra_;
      wrong_.push_back({have->seq, "", name_of(*have) + " is not in the baseline"});
    }
  }

  void find_failed() {
    const ItemSnapshot* after = q_.run.items_final();
    if (after == nullptr) return;
    for (const ItemEntry& entry : after->items) {
      if (was_to_be_cancelled(q_, entry)) {
        cancelled_.insert(entry.item);
        continue;
      }
      const bool failed =
          terminal_state(q_.target, entry.state) && !done_state(q_.target, entry.state);
      if (!failed) continue;
      ++failed_;
      wrong_.push_back({after->seq, "", entry.item + " ended in " + entry.state});
    }
  }

  std::string summary() const {
    std::string text;
    const auto add = [&](int n, const char* what) {
      if (n > 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", n, what);
    };
    add(differ_, frames_ ? "with other frames" : "with other bytes");
    add(missing_, "missing");
    add(extra_, "too many");
    add(failed_, "failed");
    return fmt::format("{} (of {} outputs)", text, expected_.size());
  }

  const Question& q_;
  const bool frames_;
  Outputs run_, expected_;
  std::set<std::string> cancelled_;
  std::vector<Witness> wrong_, unknown_;
  int differ_ = 0, missing_ = 0, extra_ = 0, failed_ = 0;
};

}  // namespace

Answer output(const Question& q) { return Comparison(q).answer(); }

}  // namespace unplug::check
