// reassigned: what the victim's seat was working on when the fault fired is finished by someone
// else, another seat or another process of the same seat, in time.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "check/checks.hpp"
#include "check/results.hpp"
#include "check/timing.hpp"

namespace unplug::check {
namespace {

// --- what was in work --------------------------------------------------------------------------

struct InWork {
  std::vector<const Work*> sure, perhaps;
};

// A process that died with work open never said that it ended: the item is its own no more when
// somebody else took it, or it was done, before the fire.
bool stale(const Question& q, const Work& work, Span fired) {
  const auto sightings = q.run.sightings.find(work.item);
  if (sightings != q.run.sightings.end()) {
    for (const Sighting& s : sightings->second) {
      if (done_state(q.target, s.state) && surely_before(s.when, fired)) return true;
    }
  }
  return std::any_of(q.run.works.begin(), q.run.works.end(), [&](const Work& other) {
    return other.item == work.item && other.begin_seq > work.begin_seq &&
           surely_before(other.begin, fired);
  });
}

InWork in_work(const Question& q, const std::string& seat, Span fired) {
  const std::set<std::string> finishing = results_of_baseline(q);
  InWork found;
  for (const Work& work : q.run.works) {
    if (work.seat != seat || !perhaps_before(work.begin, fired)) continue;
    if (stale(q, work, fired)) continue;
    if (work.end && surely_before(*work.end, fired)) continue;
    // An end without a result that falls together with the fire is the fault's own doing.
    const bool cut_short = work.end && !finishing.empty() && !finishing.contains(work.end_event);
    const bool still = !work.end || cut_short || surely_before(fired, *work.end);
    // The trigger and the observer read the same log line; the observer may be the later one.
    // So a beginning that may fall on either side of the fire counts, an end does not.
    (still ? found.sure : found.perhaps).push_back(&work);
  }
  return found;
}

// --- who finished it ---------------------------------------------------------------------------

const Process* victim_process(const Question& q, const FaultRecord& fault) {
  for (const Process& process : q.run.processes.all()) {
    if (is_victim(fault, process)) return &process;
  }
  return nullptr;
}

enum class Who { kOther, kItself, kUnknown };

// Whose stretch of work ended in the result?
Who who_finished(const Question& q, const FaultRecord& fault, const Work& work,
                 const Work& finish) {
  if (finish.seat != fault.victim.seat) return Who::kOther;
  // A fault of a link or a node has no process for its victim: whoever had it in work when the
  // fault fired, and ended that very stretch with the result, is no other.
  if (fault.victim.part.empty() && finish.begin_seq == work.begin_seq) return Who::kItself;
  const bool seen_dead = fault.victim.pid && fault.lasting && fault.in_effect;
  if (seen_dead && fault.in_effect->lo <= finish.end->lo) return Who::kOther;
  const Process* victim = victim_process(q, fault);
  if (victim == nullptr) return Who::kUnknown;
  if (!victim->gone) {
    const bool alive = !victim->samples.empty() && victim->samples.back().when.lo >= finish.end->hi;
    return alive || q.run.coverage.ended(victim->node) ? Who::kItself : Who::kUnknown;
  }
  if (surely_before(*victim->gone, *finish.end)) return Who::kOther;
  return surely_before(*finish.end, *victim->gone) ? Who::kItself : Who::kUnknown;
}

const Work* finish_of(const Question& q, const std::string& item, Span fired) {
  const std::set<std::string> finishing = finishing_events(q);
  const Work* found = nullptr;
  for (const Work& work : q.run.works) {
    const bool counts = work.item == item && work.end && finishing.count(work.end_event) > 0 &&
                        !surely_before(*work.end, fired);
    if (counts && (found == nullptr || work.end->hi < found->end->hi)) found = &work;
  }
  return found;
}

// The item's state says when it was done, the log line says when its worker said so.
Span finished_when(const Done& done, const Work& finish) {
  const Span both{std::max(done.when->lo, finish.end->lo), std::min(done.when->hi, finish.end->hi)};
  return both.lo <= both.hi ? both : *done.when;
}

Answer never_done(const Question& q, const std::string& item, const Done& done, Span from) {
  if (!done.last_open) return {Says::kCannotTell, item + " was never seen in any state", {}};
  const Span watched = elapsed(from, done.last_open->when);
  const Witness witness{done.last_open->seq, "", item + " in " + done.last_open->state};
  if (within(watched, limit(q)) == Within::kNo) {
    return {Says::kFail,
            fmt::format("{} was still {} after {}, {} is allowed", item, done.last_open->state,
                        people(watched.lo), people(limit(q).count())),
            {witness}};
  }
  return {Says::kCannotTell,
          fmt::format("{} was {} when it was last looked at, after {}", item, done.last_open->state,
                      people(watched.hi)),
          {witness}};
}

// What the operator's own restart brought about is no reassignment.
bool by_recover(const Question& q, Span end) {
  const auto recover = q.run.phases.find("recover");
  return recover != q.run.phases.end() && recover->second.begin &&
         surely_before(*recover->second.begin, end);
}

Answer judge(const Question& q, const FaultRecord& fault, const Work& work) {
  const Span from = *origin(q, fault);
  const Done done = done_at(q, work.item);
  const Witness begun{work.begin_seq, "", fmt::format("{} begun by {}", work.item, work.seat)};
  if (!done.when) {
    Answer answer = never_done(q, work.item, done, from);
    answer.witnesses.insert(answer.witnesses.begin(), begun);
    return answer;
  }
  const Work* finish = finish_of(q, work.item, *fault.fired);
  const Witness end{done.seq, "", work.item + " done"};
  if (finish == nullptr) {
    Answer late = in_time(q, elapsed(from, *done.when), work.item + " done", {begun, end});
    if (late.says == Says::kFail) return late;
    return {
        Says::kCannotTell, work.item + " was done, but who finished it was not seen", {begun, end}};
  }
  const std::string what = fmt::format("{} finished by {}", work.item, finish->seat);
  const Witness ended{finish->end_seq, "", what};
  switch (who_finished(q, fault, work, *finish)) {
    case Who::kItself:
      return {Says::kFail, what + " itself: it was not reassigned", {begun, ended}};
    case Who::kUnknown:
      return {Says::kCannotTell, what + ", by which of its processes is not known", {begun, ended}};
    case Who::kOther:
      break;
  }
  const Span when = finished_when(done, *finish);
  if (by_recover(q, when)) {
    return {
        Says::kFail, what + ", but only after recover: nobody had taken it over", {begun, ended}};
  }
  const std::string by = finish->seat == fault.victim.seat ? what + ", by another process" : what;
  return in_time(q, elapsed(from, when), by, {begun, ended, end});
}

}  // namespace

Answer reassigned(const Question& q, const FaultRecord& fault) {
  if (fault.victim.seat.empty()) {
    return {Says::kCannotTell, fault.instance + ": no seat is its victim", {}};
  }
  const InWork found = in_work(q, fault.victim.seat, *fault.fired);
  if (found.sure.empty()) {
    const std::string why = found.perhaps.empty()
                                ? fault.victim.seat + " had nothing in work when the fault fired"
                                : fmt::format("{} may have ended {} before the fault fired",
                                              fault.victim.seat, found.perhaps.front()->item);
    return {Says::kCannotTell, why, {}};
  }
  std::vector<Answer> answers;
  for (const Work* work : found.sure) answers.push_back(judge(q, fault, *work));
  return worst_of(answers);
}

}  // namespace unplug::check
