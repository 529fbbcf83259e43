// restart_point of a farm: after settle, and before anybody helps, each item is in exactly one
// state, derivable from the folder alone; after recover what was open comes to rest exactly once,
// and what was at rest is not worked on again.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "check/checks.hpp"
#include "check/results.hpp"
#include "check/timing.hpp"

namespace unplug::check {
namespace {

std::string in_words(const std::vector<std::string>& states) {
  std::string text;
  for (const std::string& state : states) text += (text.empty() ? "" : " and in ") + state;
  return text;
}

class FarmRestart {
 public:
  explicit FarmRestart(const Question& q) : q_(q) {}

  Answer answer() {
    known_ = q_.run.handed_in;
    const auto recover = q_.run.phases.find("recover");
    if (recover == q_.run.phases.end() || !recover->second.begin) return never_recovered();
    point_ = point_of(recover->second);
    if (point_ == nullptr) return cannot_tell("the items were not listed before recover");
    if (!point_->clean) return cannot_tell("the list of the items before recover is torn");
    one_state_each(*point_);
    if (!answers_.empty()) return worst_of(answers_);
    const ItemSnapshot* after = q_.run.items_final();
    if (after == nullptr || after == point_) {
      return cannot_tell("there is no clean snapshot of the end, after recover");
    }
    std::size_t open = 0;
    for (const std::string& item : known_) {
      const bool was_open = !terminal_state(q_.target, point_->states_of(item).front());
      open += was_open ? 1 : 0;
      was_open ? comes_to_rest(item, *after) : stays_at_rest(item);
    }
    watched();
    if (!answers_.empty()) return worst_of(answers_);
    return {
        Says::kPass,
        fmt::format("each of {} items in one state before recover; the {} open ones came to "
                    "rest once, the others were left alone",
                    known_.size(), open),
        {{point_->seq, "", "the items before recover"}, {after->seq, "", "the items at the end"}}};
  }

 private:
  void fail(std::uint64_t seq, const std::string& text) {
    answers_.push_back({Says::kFail, text, {{seq, "", text}}});
  }

  // Recover does not run when the target rode through; then there was nothing to restart.
  Answer never_recovered() {
    const ItemSnapshot* after = q_.run.items_final();
    if (after == nullptr) return cannot_tell("there is no clean snapshot of the end");
    one_state_each(*after);
    if (!answers_.empty()) return worst_of(answers_);
    const bool rest = std::ranges::all_of(known_, [&](const std::string& item) {
      return terminal_state(q_.target, after->states_of(item).front());
    });
    if (rest) {
      return {Says::kSkipped, "the target went on by itself: there was nothing to restart", {}};
    }
    return cannot_tell("recover never ran, and not all items are at rest");
  }

  // Taken by the run just before it calls the first verb of `recover`.
  const ItemSnapshot* point_of(const Phase& recover) const {
    for (const ItemSnapshot& snapshot : q_.run.item_snapshots) {
      if (snapshot.when != "after" || snapshot.taken.hi < recover.begin->lo) continue;
      const bool within = !recover.end || snapshot.taken.lo <= recover.end->hi;
      return within ? &snapshot : nullptr;
    }
    return nullptr;
  }

  void one_state_each(const ItemSnapshot& snapshot) {
    for (const std::string& item : known_) {
      const auto states = snapshot.states_of(item);
      if (states.empty()) fail(snapshot.seq, item + " in no state: nothing to go on from");
      if (states.size() > 1) {
        fail(snapshot.seq, fmt::format("{} in {}: {} places to go on from", item, in_words(states),
                                       states.size()));
      }
    }
    for (const ItemEntry& entry : snapshot.items) {
      if (!known_.contains(entry.item)) {
        fail(snapshot.seq, entry.item + " was never handed in, and is in " + entry.state);
      }
    }
  }

  void comes_to_rest(const std::string& item, const ItemSnapshot& after) {
    const auto states = after.states_of(item);
    if (states.size() != 1 || !terminal_state(q_.target, states.front())) {
      fail(after.seq, fmt::format("{} was {} before recover and is {} at the end", item,
                                  point_->states_of(item).front(),
                                  states.empty() ? "nowhere" : in_words(states)));
    }
    const auto results = results_of_baseline(q_);
    std::vector<Witness> sure, perhaps;
    for (const Work& work : q_.run.works) {
      if (work.item != item || !work.end || !results.contains(work.end_event)) continue;
      const Witness end{work.end_seq, "",
                        fmt::format("{} {} by {}", item, work.end_event, work.seat)};
      if (surely_before(point_->taken, *work.end)) sure.push_back(end);
      if (work.end->hi >= point_->taken.lo) perhaps.push_back(end);
    }
    if (perhaps.size() < 2) return;
    const bool twice = sure.size() > 1;
    answers_.push_back({twice ? Says::kFail : Says::kCannotTell,
                        item + (twice ? " was finished twice after recover"
                                      : " was perhaps finished twice after recover"),
                        perhaps});
  }

  void stays_at_rest(const std::string& item) {
    for (const Work& work : q_.run.works) {
      if (work.item != item || work.begin.hi < point_->taken.lo) continue;
      const bool sure = surely_before(point_->taken, work.begin);
      const std::string text =
          fmt::format("{} was {} before recover and {} begun again by {}", item,
                      point_->states_of(item).front(), sure ? "was" : "was perhaps", work.seat);
      answers_.push_back({sure ? Says::kFail : Says::kCannotTell,
                          text,
                          {{point_->seq, "", item + " at rest"}, {work.begin_seq, "", text}}});
    }
  }

  void watched() {
    for (const auto& [seat, node] : q_.run.seats) {
      if (q_.run.coverage.ended(node)) continue;
      answers_.push_back(cannot_tell("the logs of " + node + " were not watched to the end"));
    }
  }

  const Question& q_;
  std::set<std::string> known_;
  const ItemSnapshot* point_ = nullptr;
  std::vector<Answer> answers_;
};

}  // namespace

Answer restart_of_farm(const Question& q) {
  if (q.run.items_before() == nullptr) {
    return cannot_tell("no clean snapshot says which items there were");
  }
  return FarmRestart(q).answer();
}

Answer restart_point(const Question& q) {
  return q.target.kind == "sharded" ? restart_of_shards(q) : restart_of_farm(q);
}

}  // namespace unplug::check
