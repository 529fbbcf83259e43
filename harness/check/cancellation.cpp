// What is cancelled ends, on every node, in time: no more work, no process, and the items at rest
// as cancelled. The signals that were sent, and when, are told.
#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <set>

#include "check/checks.hpp"
#include "check/results.hpp"
#include "check/timing.hpp"

namespace unplug::check {
namespace {

class Cancelled {
 public:
  Cancelled(const Question& q, Span fired) : q_(q), from_(fired) {}

  Answer whole_job() {
    std::size_t ended = 0;
    for (const Process& process : q_.run.processes.all()) {
      if (process.gone && surely_before(*process.gone, from_)) continue;
      if (surely_before(ended_by_us(q_.run), process.started)) continue;  // by our own recover
      judge_process(process);
      ++ended;
    }
    no_work([](const std::string&) { return true; });
    exits();
    watched();
    if (ended == 0) unknown("no process of the job was seen when it was cancelled");
    return verdict(fmt::format("all {} processes gone", ended));
  }

  Answer some_items() {
    const std::set<std::string> items = named();
    if (items.empty()) {
      unknown("no item is called " + some_of(q_.expectation.items));
      return verdict("");
    }
    std::size_t judged = 0;
    for (const std::string& item : items) judged += judge_item(item) ? 1 : 0;
    watched();
    if (judged == 0) unknown("each of the items was done before it could be cancelled");
    return verdict(
        fmt::format("{} of {} items cancelled, their processes gone", judged, items.size()));
  }

 private:
  void unknown(const std::string& why) { answers_.push_back({Says::kCannotTell, why, {}}); }

  // --- processes -------------------------------------------------------------------------------

  void judge_process(const Process& process) {
    if (!process.gone) {
      answers_.push_back(stays(process));
      return;
    }
    const std::string what = process.text() + " gone";
    const Witness witness{process.gone_seq, "", what + ": " + process.ended.text()};
    Answer answer = in_time(q_, elapsed(from_, *process.gone), what, {witness});
    if (answer.says == Says::kPass && !surely_before(*process.gone, ended_by_us(q_.run))) {
      answer.says = Says::kCannotTell;
      answer.text += ", perhaps only because we stopped it";
    }
    if (slowest_.hi < elapsed(from_, *process.gone).hi) slowest_ = elapsed(from_, *process.gone);
    answers_.push_back(std::move(answer));
  }

  Answer stays(const Process& process) const {
    const ProcessSample* last = process.samples.empty() ? nullptr : &process.samples.back();
    const std::uint64_t seq = last == nullptr ? process.started_seq : last->seq;
    const Witness witness{seq, "", process.text() + " still there"};
    if (last != nullptr && within(elapsed(from_, last->when), limit(q_)) == Within::kNo) {
      return {Says::kFail,
              fmt::format("{} still there after {}, {} is allowed", process.text(),
                          people(elapsed(from_, last->when).lo), people(limit(q_).count())),
              {witness}};
    }
    // No end was seen although the observer looked to the end.
    const bool outlived = q_.run.coverage.ended(process.node) &&
                          ended_by_us(q_.run).lo > from_.hi + limit(q_).count();
    if (outlived) return {Says::kFail, process.text() + " never went away", {witness}};
    return {Says::kCannotTell, process.text() + " was not seen to go", {witness}};
  }

  void exits() {
    if (!q_.expectation.exit) return;
    bool any = false;
    for (const Process& process : q_.run.processes.all()) {
      const bool asked =
          q_.target.launcher.empty() ? main_part(q_, process) : process.part == q_.target.launcher;
      if (!asked || !process.gone || surely_before(*process.gone, from_)) continue;
      any = true;
      judge_exit_of(process);
    }
    if (!any) unknown("nobody whose exit is asked for was seen to end");
  }

  void judge_exit_of(const Process& process) {
    const scenario::WantedExit& wanted = *q_.expectation.exit;
    const std::string what = process.text() + " ended: " + process.ended.text();
    Says says = Says::kCannotTell;  // an unknown exit neither satisfies nor violates
    if (process.ended.how != Ended::How::kUnknown) {
      const bool as_wanted =
          wanted.code
              ? process.ended.how == Ended::How::kCode && process.ended.code == *wanted.code
              : process.ended.how == Ended::How::kSignal && process.ended.signal == wanted.signal;
      says = as_wanted ? Says::kPass : Says::kFail;
    }
    const std::string want =
        wanted.code ? fmt::format("exit {}", *wanted.code) : "killed by " + wanted.signal;
    answers_.push_back({says, what + ", expected: " + want, {{process.gone_seq, "", what}}});
  }

  // --- items -----------------------------------------------------------------------------------

  std::set<std::string> named() const {
    std::set<std::string> items;
    const auto take = [&](const std::string& item) {
      for (const std::string& pattern : q_.expectation.items) {
        if (fnmatch(pattern.c_str(), item.c_str(), 0) == 0) items.insert(item);
      }
    };
    for (const auto& [item, sightings] : q_.run.sightings) take(item);
    return items;
  }

  // False when it was done before it was cancelled.
  bool judge_item(const std::string& item) {
    const Done done = done_at(q_, item);
    if (done.when && surely_before(*done.when, from_)) return false;
    if (done.when) {
      const bool sure = surely_before(from_, *done.when);
      answers_.push_back({sure ? Says::kFail : Says::kCannotTell,
                          item + (sure ? " was done although it was cancelled"
                                       : " was done, perhaps before it was cancelled"),
                          {{done.seq, "", item + " done"}}});
      return true;
    }
    judge_state(item);
    no_work([&](const std::string& of) { return of == item; });
    for (const Process* process : workers_on(item)) judge_process(*process);
    return true;
  }

  // The first look from which on it was cancelled, to the end.
  void judge_state(const std::string& item) {
    const std::string& wanted = q_.target.items->cancelled;
    const Sighting *first = nullptr, *before = nullptr, *last = nullptr;
    for (const Sighting& sighting : q_.run.sightings.at(item)) {
      last = &sighting;
      if (sighting.state != wanted) {
        before = &sighting;
        first = nullptr;
      } else if (first == nullptr) {
        first = &sighting;
      }
    }
    if (first == nullptr) {
      const bool late = within(elapsed(from_, last->when), limit(q_)) == Within::kNo;
      answers_.push_back({late ? Says::kFail : Says::kCannotTell,
                          fmt::format("{} was {} at last, {} after it was cancelled", item,
                                      last->state, people(elapsed(from_, last->when))),
                          {{last->seq, "", item + " " + last->state}}});
      return;
    }
    const Span when{before == nullptr ? first->when.lo : std::min(before->when.lo, first->when.hi),
                    first->when.hi};
    answers_.push_back(in_time(q_, elapsed(from_, when), item + " " + wanted,
                               {{first->seq, "", item + " " + wanted}}));
  }

  // Children below the worker that existed while it worked on the item.
  std::vector<const Process*> workers_on(const std::string& item) const {
    std::vector<const Process*> found;
    for (const Work& work : q_.run.works) {
      const bool open = work.item == item && perhaps_before(work.begin, from_) &&
                        (!work.end || work.end->hi >= from_.lo);
      if (!open) continue;
      for (const Process& process : q_.run.processes.all()) {
        const bool then = perhaps_before(work.begin, process.started) &&
                          perhaps_before(process.started, from_) &&
                          (!process.gone || process.gone->hi >= from_.lo);
        if (then && process.seat == work.seat && !main_part(q_, process)) {
          found.push_back(&process);
        }
      }
    }
    return found;
  }

  // --- work ------------------------------------------------------------------------------------

  template <class F>
  void no_work(F concerns) {
    for (const Progress& p : q_.run.progress) {
      // The end of a stretch that brought no result is the stopping itself.
      if (concerns(p.item) && (p.value || is_result(p))) late_work(p.seq, p.when, p.text, p.seat);
    }
    for (const Work& work : q_.run.works) {
      if (concerns(work.item))
        late_work(work.begin_seq, work.begin, work.item + " begun", work.seat);
    }
  }

  bool is_result(const Progress& p) const {
    const std::string event = p.text.substr(0, p.text.find(' '));
    return results_of_baseline(q_).contains(event);
  }

  void late_work(std::uint64_t seq, Span when, const std::string& what, const std::string& seat) {
    if (when.hi < from_.lo || surely_before(ended_by_us(q_.run), when)) return;
    const Within in = within(elapsed(from_, when), limit(q_));
    if (in == Within::kYes) return;
    const std::string text = fmt::format("{} by {}, {} after it was cancelled", what, seat,
                                         people(elapsed(from_, when)));
    answers_.push_back(
        {in == Within::kNo ? Says::kFail : Says::kCannotTell, text, {{seq, "", text}}});
  }

  // --- what was not seen -----------------------------------------------------------------------

  // A target that came to rest before the time was over is ended by us: nothing comes after that.
  void watched() {
    const Span window{from_.lo, std::min(from_.hi + limit(q_).count(), ended_by_us(q_.run).lo)};
    std::set<std::string> nodes;
    for (const auto& [seat, node] : q_.run.seats) nodes.insert(node);
    for (const std::string& node : nodes) {
      if (!q_.run.coverage.covers(node, q_.run.observer("processes"), window)) {
        unknown("the processes of " + node + " were not watched all the time");
      }
      if (!q_.run.coverage.ended(node)) {
        unknown("the logs of " + node + " were not watched to the end");
      }
    }
  }

  // --- the answer ------------------------------------------------------------------------------

  // "TERM to 4711 by unplug after 100 ms, KILL to 4711 by unplug after 5 s"
  void ladder(Answer& answer) const {
    std::vector<std::string> steps;
    for (const Signal& signal : q_.run.signals) {
      if (signal.when.hi < from_.lo || surely_before(ended_by_us(q_.run), signal.when)) {
        continue;
      }
      steps.push_back(fmt::format("{} to {} by {} after {}", signal.sig, signal.pid, signal.by,
                                  people(elapsed(from_, signal.when))));
      answer.witnesses.push_back({signal.seq, "", steps.back() + " at " + signal.node});
    }
    if (!steps.empty()) answer.text += "; signals: " + some_of(steps, 4);
  }

  // Of a job of many processes three are enough to read; all of them are witnesses.
  std::vector<std::string> texts(Says says) const {
    std::vector<std::string> all;
    for (const Answer& answer : answers_) {
      if (answer.says == says) all.push_back(answer.text);
    }
    return all;
  }

  Answer verdict(const std::string& passed) {
    Answer answer = worst_of(answers_);
    if (answer.says == Says::kPass) {
      answer.text =
          passed + (slowest_.hi == 0 ? "" : fmt::format(", the last after {}", people(slowest_)));
    }
    if (answer.says != Says::kPass) answer.text = some_of(texts(answer.says));
    ladder(answer);
    return answer;
  }

  const Question& q_;
  const Span from_;
  Span slowest_;
  std::vector<Answer> answers_;
};

}  // namespace

Answer cancellation(const Question& q) {
  std::vector<Answer> answers;
  for (const FaultRecord* fault : q.faults) {
    if (!fault->fired) {
      answers.push_back({Says::kCannotTell, fault->instance + " never fired", {}});
    } else if (q.expectation.items.empty()) {
      answers.push_back(Cancelled(q, *fault->fired).whole_job());
    } else {
      answers.push_back(Cancelled(q, *fault->fired).some_items());
    }
  }
  return worst_of(answers);
}

}  // namespace unplug::check
