#include "check/timing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace unplug::check {

namespace {

Span first_of(const History& run, const std::vector<std::string>& phases) {
  std::optional<Span> first;
  for (const std::string& name : phases) {
    const auto phase = run.phases.find(name);
    if (phase == run.phases.end() || !phase->second.begin) continue;
    if (!first || phase->second.begin->lo < first->lo) first = phase->second.begin;
  }
  return first ? *first : run.end.value_or(Span{});
}

}  // namespace

Span undisturbed_until(const History& run) { return first_of(run, {"recover", "capture", "stop"}); }

Span ended_by_us(const History& run) { return first_of(run, {"recover", "stop"}); }

bool is_victim(const FaultRecord& fault, const Process& process) {
  return fault.victim.pid && *fault.victim.pid == process.pid &&
         (!fault.victim.start || *fault.victim.start == process.start) &&
         process.node == fault.node;
}

bool main_part(const Question& q, const Process& process) {
  if (process.part.empty() || process.seat.empty()) return false;
  for (const scenario::Part& part : q.target.parts) {
    if (part.name == process.part) return part.child_of.empty();
  }
  return false;
}

namespace {

// Does the part end by itself when nothing is broken?
std::optional<bool> ends_undisturbed(const Question& q, const std::string& part) {
  if (q.baseline == nullptr) return std::nullopt;
  const Span until = undisturbed_until(*q.baseline);
  for (const Process& process : q.baseline->processes.all()) {
    if (process.part == part && process.gone && process.gone->lo <= until.lo) return true;
  }
  return false;
}

}  // namespace

Exited judge_exit(const Question& q, const Process& process) {
  if (process.ended.zero()) return Exited::kFine;
  if (process.ended.how != Ended::How::kUnknown) return Exited::kHarm;
  const auto ends = ends_undisturbed(q, process.part);
  if (!ends) return Exited::kUnknown;
  return *ends ? Exited::kFine : Exited::kHarm;
}

std::optional<Answer> exits_after(const Question& q, const FaultRecord& fault) {
  const Span until = undisturbed_until(q.run);
  std::vector<Answer> answers;
  for (const Process& process : q.run.processes.all()) {
    if (!main_part(q, process) || !process.gone) continue;
    if (fault.lasting && is_victim(fault, process)) continue;
    const bool after_fire = process.gone->hi >= fault.fired->lo;
    if (!after_fire || surely_before(until, *process.gone)) continue;
    const Exited exited = judge_exit(q, process);
    if (exited == Exited::kFine) continue;
    const bool sure = exited == Exited::kHarm && surely_before(*fault.fired, *process.gone) &&
                      surely_before(*process.gone, until);
    const std::string text = process.text() + " ended: " + process.ended.text();
    answers.push_back({sure ? Says::kFail : Says::kCannotTell,
                       sure ? text : text + ", perhaps not by the fault",
                       {{process.gone_seq, "", text}}});
  }
  if (answers.empty()) return std::nullopt;
  return worst_of(answers);
}

std::optional<Answer> items_lost(const Question& q) {
  if (!q.target.items) return std::nullopt;
  const ItemSnapshot* before = q.run.items_before();
  const ItemSnapshot* after = q.run.items_final();
  if (before == nullptr || after == nullptr) {
    return Answer{Says::kCannotTell, "no clean snapshots of the items before and after", {}};
  }
  std::vector<Witness> lost;
  for (const std::string& item : q.run.handed_in) {
    const auto states = after->states_of(item);
    const bool kept = std::any_of(states.begin(), states.end(), [&](const std::string& state) {
      return done_state(q.target, state) || !terminal_state(q.target, state);
    });
    if (kept) continue;
    lost.push_back(
        {after->seq, "", item + (states.empty() ? " is gone" : " is in " + states.front())});
  }
  if (lost.empty()) return std::nullopt;
  const std::string text = fmt::format("{} items lost or failed", lost.size());
  return Answer{Says::kFail, text, lost};
}

namespace {

// Nothing was left to do: by then each item was at rest.
const ItemSnapshot* all_at_rest(const Question& q, Span from, Duration t) {
  for (const ItemSnapshot& snapshot : q.run.item_snapshots) {
    if (!snapshot.clean || snapshot.items.empty()) continue;
    if (elapsed(from, snapshot.taken).hi > t.count()) continue;
    const bool rest =
        std::all_of(snapshot.items.begin(), snapshot.items.end(),
                    [&](const ItemEntry& entry) { return terminal_state(q.target, entry.state); });
    if (rest) return &snapshot;
  }
  return nullptr;
}

bool speaks(const History& history, const std::string& seat) {
  return std::any_of(history.progress.begin(), history.progress.end(),
                     [&](const Progress& p) { return p.seat == seat; });
}

Answer no_progress(const Question& q, Span from, const std::string& seat, const std::string& who) {
  if (!q.expectation.within) return {Says::kCannotTell, "no progress of " + who, {}};
  const Span window{from.lo, from.hi + limit(q).count()};
  if (undisturbed_until(q.run).lo < window.hi) {
    return {Says::kCannotTell,
            fmt::format("no progress of {} until the run went on, within less than {}", who,
                        people(limit(q).count())),
            {}};
  }
  std::set<std::string> nodes;
  for (const auto& [name, node] : q.run.seats) {
    if (seat.empty() || name == seat) nodes.insert(node);
  }
  for (const std::string& node : nodes) {
    if (!q.run.coverage.covers(node, q.run.observer("log"), window)) {
      return {
          Says::kCannotTell,
          fmt::format("no progress of {} was seen, but {} was not watched all the time", who, node),
          {}};
    }
  }
  return {
      Says::kFail, fmt::format("{} made no progress within {}", who, people(limit(q).count())), {}};
}

}  // namespace

Answer progressed(const Question& q, const FaultRecord& fault, Span from) {
  const std::string& victim = fault.victim.seat;
  const bool known =
      speaks(q.run, victim) || (q.baseline != nullptr && speaks(*q.baseline, victim));
  const std::string seat = known ? victim : "";
  const std::string who = seat.empty() ? "the job" : seat;
  for (const Progress& progress : q.run.progress) {
    if ((!seat.empty() && progress.seat != seat) || progress.when.hi < from.lo) continue;
    if (surely_before(undisturbed_until(q.run), progress.when)) break;
    Answer answer = in_time(q, elapsed(from, progress.when), who + " made progress",
                            {{progress.seq, "", progress.text}});
    if (answer.says == Says::kPass) return answer;
    if (all_at_rest(q, from, limit(q)) == nullptr) return answer;
    break;
  }
  if (const ItemSnapshot* rest = all_at_rest(q, from, limit(q))) {
    return {Says::kPass, "nothing was left to do", {{rest->seq, "", "each item is at rest"}}};
  }
  return no_progress(q, from, seat, who);
}

}  // namespace unplug::check
