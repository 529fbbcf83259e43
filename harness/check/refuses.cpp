// A mismatch is refused in time, with an error that names it, and nothing is made with it.
//
// The clock starts when the fault fired; for a seat that had no occasion then, when it first tried:
// began work, or started. A seat that never tried has refused nothing, and accepted nothing.
#include <fmt/format.h>

#include <algorithm>

#include "check/checks.hpp"
#include "check/results.hpp"
#include "check/timing.hpp"

namespace unplug::check {
namespace {

// Whether a part that is no other's child sits there.
bool works(const Question& q, const std::string& seat) {
  return std::ranges::any_of(q.target.parts, [&](const scenario::Part& part) {
    return seat.starts_with(part.place + "-") && part.child_of.empty();
  });
}

// The fault's own seat; where it is of a node, the seats there that use what it changes.
std::vector<std::string> victims_of(const Question& q, const FaultRecord& fault) {
  if (!fault.victim.seat.empty()) return {fault.victim.seat};
  const auto model = std::ranges::find(q.target.models, fault.subject, &scenario::Model::name);
  std::vector<std::string> seats;
  for (const auto& [seat, node] : q.run.seats) {
    const bool uses = model == q.target.models.end() || model->place == "all" ||
                      seat.starts_with(model->place + "-");
    if (node == fault.node && uses && works(q, seat)) seats.push_back(seat);
  }
  return seats;
}

class Refusal {
 public:
  Refusal(const Question& q, const FaultRecord& fault, std::string seat)
      : q_(q), fault_(fault), seat_(std::move(seat)), fired_(*fault.fired) {
    names_ = q.expectation.names.empty() ? fault.subject : q.expectation.names;
  }

  Answer answer() {
    if (names_.empty()) {
      return {Says::kCannotTell, "what a refusal must name is not known: write \"names\"", {}};
    }
    std::vector<Answer> answers = accepted();
    if (q_.target.kind == "sharded") {
      std::ranges::move(ended(), std::back_inserter(answers));
    }
    answers.push_back(refused());
    return worst_of(answers);
  }

 private:
  struct Try {
    Span when;
    std::uint64_t seq = 0;
    std::string text;
  };

  // The first occasion after the fire to meet the mismatch.
  std::optional<Try> first_try() const {
    std::optional<Try> first;
    const auto take = [&](Span when, std::uint64_t seq, const std::string& text) {
      if (when.hi < fired_.lo || (first && first->when.hi <= when.hi)) return;
      first = Try{when, seq, text};
    };
    for (const Work& work : q_.run.works) {
      if (work.seat == seat_) take(work.begin, work.begin_seq, work.item + " begun by " + seat_);
    }
    for (const Process& process : q_.run.processes.all()) {
      if (process.seat == seat_ && main_part(q_, process)) {
        take(process.started, process.started_seq, process.text() + " started");
      }
    }
    return first;
  }

  Span origin(const std::optional<Try>& first) const {
    return first && first->when.hi > fired_.hi ? first->when : fired_;
  }

  static std::string named(const Question& q, const Said& said) {
    const scenario::EventPattern* event = q.target.event(said.event);
    if (event == nullptr || event->refuses.empty()) return "";
    const auto field = said.fields.find(event->refuses);
    return field == said.fields.end() ? "" : field->second;
  }

  Answer refused() const {
    const auto first = first_try();
    const Said* other = nullptr;
    for (const Said& said : q_.run.said) {
      const std::string what = said.seat == seat_ ? named(q_, said) : "";
      if (what.empty() || said.when.hi < fired_.lo) continue;
      if (what.find(names_) == std::string::npos) {
        other = &said;
        continue;
      }
      // A refusal may come before the work that it refuses is logged as begun.
      const bool early = first && said.when.hi < first->when.hi;
      const Span from = early ? fired_ : origin(first);
      return in_time(q_, elapsed(from, said.when), fmt::format("{} refused {}", seat_, what),
                     {{said.seq, "", said.text}});
    }
    if (other != nullptr) {
      return {Says::kFail,
              fmt::format("{} refused, but named {} and not {}", seat_, named(q_, *other), names_),
              {{other->seq, "", other->text}}};
    }
    return never(first);
  }

  Answer never(const std::optional<Try>& first) const {
    if (!first) return {Says::kCannotTell, seat_ + " never tried, so it refused nothing", {}};
    const Witness tried{first->seq, "", first->text};
    const Span window{fired_.lo, origin(first).hi + limit(q_).count()};
    if (ended_by_us(q_.run).lo < window.hi) {
      return {Says::kCannotTell,
              fmt::format("{} did not refuse {} until it was stopped, within less than {}", seat_,
                          names_, people(limit(q_).count())),
              {tried}};
    }
    if (!q_.run.coverage.ended(q_.run.node_of(seat_))) {
      return {Says::kCannotTell, "the log of " + seat_ + " was not watched to the end", {tried}};
    }
    return {Says::kFail,
            fmt::format("{} did not refuse {} within {}", seat_, names_, people(limit(q_).count())),
            {tried}};
  }

  // Results of work that was begun under the mismatch.
  std::vector<Answer> accepted() const {
    const auto results = results_of_baseline(q_);
    std::vector<Answer> answers;
    for (const Work& work : q_.run.works) {
      if (work.seat != seat_ || !work.end || work.begin.hi < fired_.lo) continue;
      if (!results.empty() && !results.contains(work.end_event)) continue;
      if (fault_.reverting && surely_before(*fault_.reverting, work.begin)) continue;
      const bool sure = !results.empty() && surely_before(fired_, work.begin) &&
                        (!fault_.reverting || surely_before(work.begin, *fault_.reverting));
      const std::string text = fmt::format("{} {} by {}{} with the mismatch", work.item,
                                           work.end_event, seat_, sure ? "" : ", perhaps");
      answers.push_back({sure ? Says::kFail : Says::kCannotTell,
                         text,
                         {{work.begin_seq, "", work.item + " begun"}, {work.end_seq, "", text}}});
    }
    return answers;
  }

  // A rank ends non-zero, and before its first step.
  std::vector<Answer> ended() const {
    std::vector<Answer> answers;
    for (const Progress& p : q_.run.progress) {
      if (p.seat != seat_ || !surely_before(fired_, p.when)) continue;
      if (fault_.reverting && !surely_before(p.when, *fault_.reverting)) continue;
      answers.push_back({Says::kFail, seat_ + " made a step: " + p.text, {{p.seq, "", p.text}}});
      break;
    }
    for (const Process& process : q_.run.processes.all()) {
      if (process.seat != seat_ || !main_part(q_, process) || !process.gone) continue;
      if (process.gone->hi < fired_.lo || surely_before(ended_by_us(q_.run), *process.gone))
        continue;
      const std::string how = process.text() + " ended: " + process.ended.text();
      const Witness witness{process.gone_seq, "", how};
      if (process.ended.zero()) {
        answers.push_back({Says::kFail, how + ", as if all were well", {witness}});
      } else if (process.ended.how == Ended::How::kUnknown) {
        answers.push_back({Says::kCannotTell, how, {witness}});
      } else {
        answers.push_back({Says::kPass, how, {witness}});
      }
      return answers;
    }
    answers.push_back({Says::kCannotTell, "no process of " + seat_ + " was seen to end", {}});
    return answers;
  }

  const Question& q_;
  const FaultRecord& fault_;
  const std::string seat_;
  const Span fired_;
  std::string names_;
};

}  // namespace

Answer refuses(const Question& q) {
  std::vector<Answer> answers;
  for (const FaultRecord* fault : q.faults) {
    if (!fault->fired) {
      answers.push_back({Says::kCannotTell, fault->instance + " never fired", {}});
      continue;
    }
    const auto seats = victims_of(q, *fault);
    if (seats.empty()) {
      answers.push_back({Says::kCannotTell, "no seat is at " + fault->node, {}});
    }
    for (const std::string& seat : seats) answers.push_back(Refusal(q, *fault, seat).answer());
  }
  return worst_of(answers);
}

}  // namespace unplug::check
