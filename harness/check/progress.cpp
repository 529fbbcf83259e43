// After healing the target goes on: within T of the verified revert (of the fire, where nothing is
// reverted) a counter rises again, and when a rate is asked for, as fast as in the undisturbed run.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "check/checks.hpp"
#include "check/timing.hpp"

namespace unplug::check {
namespace {

using Key = std::pair<std::string, std::string>;  // seat, item

bool counts(const Progress& p, const std::string& seat) {
  return p.value && (seat.empty() || p.seat == seat);
}

bool speaks(const History* history, const std::string& seat) {
  return history != nullptr &&
         std::ranges::any_of(history->progress, [&](const Progress& p) { return counts(p, seat); });
}

// Whose progress is asked for: the victim's, where it ever counted; else anybody's.
std::string who_counts(const Question& q, const FaultRecord& fault) {
  const std::string& seat = fault.victim.seat;
  return !seat.empty() && (speaks(&q.run, seat) || speaks(q.baseline, seat)) ? seat : "";
}

// --- the rate ----------------------------------------------------------------------------------

struct Rate {
  double lo = 0, hi = 0;  // counts a second
  std::uint64_t first = 0, last = 0;
};

// Over the stretches in which a seat counted on one item, from `from` on: all that was counted, by
// all the time that it took.
std::optional<Rate> rate_of(const History& history, const std::string& seat,
                            std::optional<Span> from) {
  struct Stretch {
    const Progress *first = nullptr, *last = nullptr;
  };
  std::map<Key, std::vector<Stretch>> all;
  for (const Progress& p : history.progress) {
    if (!counts(p, seat) || (from && p.when.lo < from->hi)) continue;
    if (surely_before(undisturbed_until(history), p.when)) continue;
    auto& stretches = all[{p.seat, p.item}];
    const bool again = !stretches.empty() && *p.value <= *stretches.back().last->value;
    if (stretches.empty() || again) stretches.push_back({&p, &p});
    stretches.back().last = &p;
  }
  double counted = 0, least = 0, most = 0;
  Rate rate;
  for (const auto& [key, stretches] : all) {
    for (const Stretch& s : stretches) {
      const Span took = elapsed(s.first->when, s.last->when);
      if (s.first == s.last) continue;
      counted += *s.last->value - *s.first->value;
      least += static_cast<double>(took.lo) / 1e9;
      most += static_cast<double>(took.hi) / 1e9;
      if (rate.first == 0) rate.first = s.first->seq;
      rate.last = s.last->seq;
    }
  }
  if (least <= 0) return std::nullopt;
  rate.lo = counted / most;
  rate.hi = counted / least;
  return rate;
}

Answer judge_rate(const Question& q, const std::string& seat, Span from) {
  if (q.run.embedded) {
    return {Says::kCannotTell, "its rate is not meaningful: shared CPUs", {}};
  }
  if (q.baseline == nullptr) return {Says::kCannotTell, "there is no baseline's rate", {}};
  const auto was = rate_of(*q.baseline, seat, std::nullopt);
  const auto is = rate_of(q.run, seat, from);
  if (!was || !is) {
    return {Says::kCannotTell,
            fmt::format("too few counts {} for a rate", was ? "after healing" : "in the baseline"),
            {}};
  }
  const double wanted = *q.expectation.rate, lo = is->lo / was->hi, hi = is->hi / was->lo;
  const std::string text =
      fmt::format("at {:.0f} to {:.0f} % of the undisturbed rate, {:.0f} % is asked", lo * 100,
                  hi * 100, wanted * 100);
  const Says says = lo >= wanted ? Says::kPass : hi < wanted ? Says::kFail : Says::kCannotTell;
  return {says,
          text,
          {{is->first, "", "the rate is taken from here"},
           {is->last, "", "to here"},
           {was->first, "baseline", "the undisturbed one from here"},
           {was->last, "baseline", "to here"}}};
}

// --- that it goes on ---------------------------------------------------------------------------

// Could the seat have done anything in the window? With items: one was open in some clean look.
bool had_work(const Question& q, Span window) {
  if (!q.target.items) return true;
  const ItemSnapshot* before = nullptr;
  for (const ItemSnapshot& snapshot : q.run.item_snapshots) {
    if (!snapshot.clean || snapshot.items.empty()) continue;
    if (snapshot.taken.lo > window.hi) break;
    const bool open = std::ranges::any_of(snapshot.items, [&](const ItemEntry& entry) {
      return !terminal_state(q.target, entry.state);
    });
    if (open && snapshot.taken.hi >= window.lo) return true;
    before = open ? &snapshot : nullptr;
  }
  return before != nullptr;  // what was open at the last look before stayed so
}

Answer none(const Question& q, const std::string& seat, Span from) {
  const std::string who = seat.empty() ? "the job" : seat;
  const Span window{from.lo, from.hi + limit(q).count()};
  if (!had_work(q, window)) {
    return {Says::kCannotTell, "nothing was left to do: whether it would go on was not seen", {}};
  }
  if (undisturbed_until(q.run).lo < window.hi) {
    return {Says::kCannotTell,
            fmt::format("no progress of {} until the run went on, within less than {}", who,
                        people(limit(q).count())),
            {}};
  }
  for (const auto& [name, node] : q.run.seats) {
    if (!seat.empty() && name != seat) continue;
    if (q.run.coverage.covers(node, q.run.observer("log"), window)) continue;
    return {
        Says::kCannotTell,
        fmt::format("no progress of {} was seen, but {} was not watched all the time", who, node),
        {}};
  }
  return {
      Says::kFail, fmt::format("{} made no progress within {}", who, people(limit(q).count())), {}};
}

Answer judge(const Question& q, const FaultRecord& fault) {
  const std::optional<Span> from = fault.lasting ? fault.fired : fault.reverted;
  if (!from) return {Says::kCannotTell, fault.instance + ": its revert was never verified", {}};
  const std::string seat = who_counts(q, fault);
  const std::string who = seat.empty() ? "the job" : seat;
  for (const Progress& p : q.run.progress) {
    if (!counts(p, seat) || p.when.hi < from->lo) continue;
    if (surely_before(undisturbed_until(q.run), p.when)) break;
    if (!surely_before(*from, p.when) && within(elapsed(*from, p.when), limit(q)) == Within::kYes) {
      continue;  // perhaps still before; a later one will tell
    }
    Answer answer =
        in_time(q, elapsed(*from, p.when), who + " made progress", {{p.seq, "", p.text}});
    if (answer.says != Says::kPass || !q.expectation.rate) return answer;
    Answer rate = judge_rate(q, seat, *from);
    rate.text = answer.text + ", " + rate.text;
    rate.witnesses.insert(rate.witnesses.begin(), answer.witnesses.front());
    return rate;
  }
  return none(q, seat, *from);
}

}  // namespace

Answer progress(const Question& q) {
  std::vector<Answer> answers;
  for (const FaultRecord* fault : q.faults) {
    if (!fault->fired) {
      answers.push_back({Says::kCannotTell, fault->instance + " never fired", {}});
    } else {
      answers.push_back(judge(q, *fault));
    }
  }
  return worst_of(answers);
}

}  // namespace unplug::check
