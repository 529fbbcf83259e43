#include "check/judge.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "check/checks.hpp"
#include "check/history.hpp"
#include "check/verdict.hpp"

namespace unplug::check {
namespace {

// --- faults ------------------------------------------------------------------------------------

std::string effect_text(const History& run, const FaultRecord& fault) {
  if (!fault.confirmed) return fault.why;
  if (!fault.in_effect) return "in effect";
  if (fault.lasting) return "seen " + run.since_start({fault.in_effect->lo, fault.in_effect->lo});
  return fmt::format("in effect for {}", people(fault.in_effect->hi - fault.in_effect->lo));
}

std::string undone_text(const History& run, const FaultRecord& fault) {
  if (fault.unhealed) return "still there";
  if (fault.reverted) return "reverted " + run.since_start(*fault.reverted);
  if (!fault.fired) return "never fired";
  if (fault.lasting) return "nothing to undo";
  return fault.last("reverted") != nullptr ? "reverted" : "disarmed";
}

std::string victim_text(const FaultRecord& fault) {
  std::string text = fault.victim.part;
  if (!fault.victim.seat.empty()) text += (text.empty() ? "" : " of ") + fault.victim.seat;
  if (!fault.node.empty()) text += (text.empty() ? "" : " at ") + fault.node;
  return text;
}

FaultFinding finding_of(const History& run, const FaultRecord& fault) {
  FaultFinding finding;
  finding.id = fault.id;
  finding.instance = fault.instance;
  finding.injector = fault.injector;
  finding.victim = victim_text(fault);
  finding.confirmed = fault.confirmed;
  finding.unhealed = fault.unhealed;
  finding.text = effect_text(run, fault);
  if (fault.fired) finding.fired = run.since_start(*fault.fired);
  finding.undone = undone_text(run, fault);
  finding.witnesses = fault.witnesses;
  return finding;
}

SkewFinding finding_of(const Skew& skew) {
  const std::string text = fmt::format("{} fired {} apart", skew.instances, people(skew.apart));
  return {skew.ids, skew.instances, skew.apart.lo, skew.apart.hi, text};
}

// --- expectations ------------------------------------------------------------------------------

std::string display_name(const scenario::Expectation& expectation) {
  if (!expectation.name.empty()) return expectation.name;
  return expectation.outcome.empty() ? expectation.check
                                     : expectation.check + " " + expectation.outcome;
}

Answer ask(const Check* check, const Question& question) {
  if (check == nullptr) {
    return {
        Says::kCannotTell, "this version has no check \"" + question.expectation.check + "\"", {}};
  }
  try {
    return check->ask(question);
  } catch (const std::exception& error) {
    return {Says::kCannotTell, std::string("the check broke: ") + error.what(), {}};
  }
}

// A response to a fault that was not there says nothing about the target.
std::string unanswerable(const Question& q) {
  for (const std::string& id : q.expectation.of) {
    const bool known = std::any_of(q.faults.begin(), q.faults.end(),
                                   [&](const FaultRecord* f) { return f->id == id; });
    if (!known) return "fault " + id + " is not in the journal";
  }
  if (q.faults.empty()) return "there was no fault to answer";
  for (const FaultRecord* fault : q.faults) {
    if (!fault->confirmed) {
      return fmt::format("{} was not confirmed: {}", fault->instance, fault->why);
    }
  }
  return "";
}

Finding judge_one(const Question& q, std::size_t index, bool never_began) {
  const Check* check = find_check(q.expectation.check);
  const bool response = check != nullptr && check->kind == Kind::kResponse;
  Finding finding;
  finding.expectation = index;
  finding.check = q.expectation.check;
  finding.name = display_name(q.expectation);
  if (never_began) {
    finding.says = Says::kSkipped;
    finding.text = "the run was refused before it touched anything";
    return finding;
  }
  if (response) {
    for (const FaultRecord* fault : q.faults) finding.of.push_back(fault->instance);
  }
  const Answer answer = ask(check, q);
  finding.says = answer.says;
  finding.text = answer.text;
  finding.witnesses = answer.witnesses;
  const std::string why = response ? unanswerable(q) : "";
  if (!why.empty()) {
    finding.says = Says::kCannotTell;
    finding.text = why;
    finding.otherwise = to_text(answer.says) + ": " + answer.text;
  }
  return finding;
}

}  // namespace

Result judge(const Case& c) {
  const History run = history_of(c.journal, c.healed, c);
  std::optional<History> baseline;
  if (c.baseline) baseline = history_of(*c.baseline, {}, c);
  Result result;
  for (const FaultRecord& fault : run.faults) {
    result.faults.push_back(finding_of(run, fault));
    result.by_hand.insert(result.by_hand.end(), fault.by_hand.begin(), fault.by_hand.end());
  }
  for (const Skew& skew : run.skews) result.skews.push_back(finding_of(skew));
  const bool never_began = run.closed == "preflight";
  for (std::size_t i = 0; i < c.scenario->expect.size(); ++i) {
    const scenario::Expectation& expectation = c.scenario->expect[i];
    const Question question{run,       baseline ? &*baseline : nullptr, expectation,
                            *c.target, run.faults_of(expectation.of),   c.scenario,
                            i};
    result.findings.push_back(judge_one(question, i, never_began));
  }
  decide(*c.scenario, run, result);
  return result;
}

}  // namespace unplug::check
