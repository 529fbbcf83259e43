#include "check/verdict.hpp"

#include <fmt/format.h>

#include "check/checks.hpp"

namespace unplug::check {
namespace {

std::vector<std::string> names(const Result& result, Says says) {
  std::vector<std::string> found;
  for (const Finding& finding : result.findings) {
    if (finding.says == says) found.push_back(finding.name);
  }
  return found;
}

std::string with_why(const std::string& what, const std::string& why) {
  return why.empty() ? what : what + ": " + why;
}

std::string unhealed(const Result& result) {
  std::vector<std::string> left;
  for (const FaultFinding& fault : result.faults) {
    if (fault.unhealed) left.push_back(fault.instance);
  }
  return left.empty() ? "" : "still to undo: " + some_of(left);
}

std::string failed(const Result& result) {
  const auto all = names(result, Says::kFail);
  return all.empty() ? "" : some_of(all) + (all.size() == 1 ? " does not hold" : " do not hold");
}

// The first reason, in the order of a run, why a pass would be worth nothing.
std::string inconclusive(const scenario::Scenario& scenario, const History& run,
                         const Result& result) {
  if (run.closed == "preflight")
    return with_why("refused before anything was touched", run.closed_why);
  if (!run.broken.empty()) return "the journal does not hold: " + run.broken;
  if (!run.closed) return "the journal is broken off";
  if (run.closed == "unreachable") return with_why("a node could not be reached", run.closed_why);
  if (run.baseline_ref && !run.baseline_ref->passed) {
    return with_why("the baseline did not pass", run.baseline_ref->why);
  }
  if (run.faults.empty()) return "nothing was injected";
  for (const scenario::Fault& fault : scenario.faults) {
    if (run.faults_of({fault.id}).empty()) return "fault " + fault.id + " is not in the journal";
  }
  for (const FaultRecord& fault : run.faults) {
    if (!fault.confirmed) return fault.instance + " was not confirmed: " + fault.why;
  }
  const auto unknown = names(result, Says::kCannotTell);
  if (!unknown.empty()) return "cannot tell: " + some_of(unknown);
  const bool judged = result.findings.size() > names(result, Says::kSkipped).size();
  return judged ? "" : "nothing was expected";
}

std::string passed(const Result& result) {
  const std::size_t skipped = names(result, Says::kSkipped).size();
  const std::size_t held = result.findings.size() - skipped;
  return fmt::format("{} expectation{} held under {} confirmed fault{}{}", held,
                     held == 1 ? "" : "s", result.faults.size(),
                     result.faults.size() == 1 ? "" : "s",
                     skipped == 0 ? "" : fmt::format(", {} skipped", skipped));
}

}  // namespace

void decide(const scenario::Scenario& scenario, const History& run, Result& result) {
  const auto set = [&](Verdict verdict, std::string why) {
    result.verdict = verdict;
    result.why = std::move(why);
  };
  const std::string left = unhealed(result), fail = failed(result),
                    open = inconclusive(scenario, run, result);
  if (!left.empty()) {
    set(Verdict::kUnhealed, left);
  } else if (run.closed == "internal") {
    set(Verdict::kInternal, with_why("unplug itself had trouble", run.closed_why));
  } else if (run.closed == "interrupted") {
    set(Verdict::kInterrupted, with_why("interrupted, and healed first", run.closed_why));
  } else if (!fail.empty()) {
    set(Verdict::kFail, fail);
  } else if (!open.empty()) {
    set(Verdict::kInconclusive, open);
  } else {
    set(Verdict::kPass, passed(result));
  }
  const auto told = [&](const char* what) { return result.why.find(what) != std::string::npos; };
  if (!run.broken.empty() && !told("does not hold")) {
    result.why += "; the journal does not hold: " + run.broken;
  } else if (!run.closed && run.broken.empty() && !told("broken off")) {
    result.why += "; the journal is broken off";
  }
}

}  // namespace unplug::check
