// Did every rank or worker notice in time, and in the way that the scenario expects?
#include <fmt/format.h>

#include "check/checks.hpp"
#include "check/timing.hpp"

namespace unplug::check {
namespace {

using Outcome = Answer (*)(const Question&, const FaultRecord&);

Outcome outcome_of(const std::string& name) {
  if (name == "reassigned") return reassigned;
  if (name == "rides_through") return rides_through;
  if (name == "fails_clean") return fails_clean;
  if (name == "unaffected") return unaffected;
  return nullptr;
}

}  // namespace

Answer timeout(const Question& q) {
  const Outcome outcome = outcome_of(q.expectation.outcome);
  if (outcome == nullptr) {
    return {Says::kCannotTell, "there is no outcome \"" + q.expectation.outcome + "\"", {}};
  }
  std::vector<Answer> answers;
  for (const FaultRecord* fault : q.faults) {
    if (!fault->fired) {
      answers.push_back({Says::kCannotTell, fault->instance + " never fired", {}});
    } else if (!origin(q, *fault)) {
      answers.push_back(
          {Says::kCannotTell, fault->instance + ": its revert was never verified", {}});
    } else {
      answers.push_back(outcome(q, *fault));
    }
  }
  return worst_of(answers);
}

std::optional<Span> origin(const Question& q, const FaultRecord& fault) {
  return q.expectation.since == "reverted" ? fault.reverted : fault.fired;
}

Duration limit(const Question& q) { return q.expectation.within.value_or(Duration::max()); }

Answer in_time(const Question& q, Span took, const std::string& what,
               std::vector<Witness> witnesses) {
  const std::string text = fmt::format("{} after {}", what, people(took));
  const std::string of = q.expectation.within ? people(q.expectation.within->count()) : "no limit";
  switch (within(took, limit(q))) {
    case Within::kYes:
      return {Says::kPass, text, std::move(witnesses)};
    case Within::kNo:
      return {Says::kFail, fmt::format("{}, {} is allowed", text, of), std::move(witnesses)};
    case Within::kPerhaps:
      break;
  }
  return {Says::kCannotTell, fmt::format("{}: too near to the allowed {} to tell", text, of),
          std::move(witnesses)};
}

}  // namespace unplug::check
