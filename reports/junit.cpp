#include <fmt/format.h>
#include <algorithm>

#include "reports/report.hpp"
#include "reports/text.hpp"

namespace unplug::reports {
namespace {

// What a case came to, as JUnit says it: failure, error, skipped, or nothing for a pass.
struct TestCase {
  std::string group, name, outcome, text, details;
};

std::string witnesses_text(const std::vector<check::Witness>& witnesses) {
  std::string text;
  for (const check::Witness& witness : witnesses) {
    text += fmt::format("{}#{} {}\n", witness.journal.empty() ? "" : witness.journal + " ",
                        witness.seq, xml(witness.text));
  }
  return text;
}

TestCase fault_case(const check::FaultFinding& fault) {
  const std::string text = fault.unhealed ? "still there; " + fault.text
                                          : (fault.confirmed ? "" : "not confirmed: ") + fault.text;
  return {"fault", fault.instance, fault.confirmed && !fault.unhealed ? "" : "error", text,
          witnesses_text(fault.witnesses)};
}

std::string outcome_of(check::Says says) {
  switch (says) {
    case check::Says::kFail:
      return "failure";
    case check::Says::kCannotTell:
      return "error";
    case check::Says::kSkipped:
    case check::Says::kKnown:
      return "skipped";
    case check::Says::kPass:
    case check::Says::kFixed:
      break;
  }
  return "";
}

TestCase finding_case(const check::Finding& finding) {
  std::string details = witnesses_text(finding.witnesses);
  if (!finding.otherwise.empty()) details += "otherwise: " + xml(finding.otherwise) + "\n";
  return {"expectation", fmt::format("{} {}", finding.expectation + 1, finding.name),
          outcome_of(finding.says), finding.text, std::move(details)};
}

// What no fault and no finding says: unhealed, interrupted, internal, nothing injected.
TestCase run_case(const check::Result& result) {
  const bool good =
      result.verdict == check::Verdict::kPass || result.verdict == check::Verdict::kFail;
  std::string details;
  for (const std::string& step : result.by_hand) details += "by hand: " + xml(step) + "\n";
  return {"run", "verdict", good ? "" : "error", check::to_text(result.verdict) + ": " + result.why,
          std::move(details)};
}

std::string case_xml(const std::string& suite, const TestCase& one) {
  std::string text = fmt::format(R"(    <testcase classname="{}.{}" name="{}")", xml(suite),
                                 one.group, xml(one.name));
  if (one.outcome.empty()) {
    return text + ">\n      <system-out>" + xml(one.text) + "\n" + one.details +
           "</system-out>\n    </testcase>\n";
  }
  return text + fmt::format(">\n      <{0} message=\"{1}\">{2}</{0}>\n    </testcase>\n",
                            one.outcome, xml(one.text), one.details);
}

}  // namespace

std::string junit(const check::Judged& judged) {
  std::vector<TestCase> cases = {run_case(judged.result)};
  for (const auto& fault : judged.result.faults) cases.push_back(fault_case(fault));
  for (const auto& finding : judged.result.findings) cases.push_back(finding_case(finding));
  const auto count = [&](const char* outcome) {
    return std::count_if(cases.begin(), cases.end(),
                         [&](const TestCase& one) { return one.outcome == outcome; });
  };
  std::string text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n";
  text += fmt::format(
      "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\">\n",
      xml(judged.scenario.name), cases.size(), count("failure"), count("error"), count("skipped"));
  for (const TestCase& one : cases) text += case_xml(judged.scenario.name, one);
  return text + "  </testsuite>\n</testsuites>\n";
}

}  // namespace unplug::reports
