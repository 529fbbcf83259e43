#include <nlohmann/json.hpp>

#include "reports/report.hpp"

namespace unplug::reports {
namespace {

using Json = nlohmann::ordered_json;

Json witnesses_json(const std::vector<check::Witness>& witnesses) {
  Json list = Json::array();
  for (const check::Witness& witness : witnesses) {
    Json one{{"seq", witness.seq}};
    if (!witness.journal.empty()) one["journal"] = witness.journal;
    one["text"] = witness.text;
    list.push_back(std::move(one));
  }
  return list;
}

Json fault_json(const check::FaultFinding& fault) {
  return {{"id", fault.id},
          {"instance", fault.instance},
          {"injector", fault.injector},
          {"victim", fault.victim},
          {"confirmed", fault.confirmed},
          {"unhealed", fault.unhealed},
          {"fired", fault.fired},
          {"undone", fault.undone},
          {"text", fault.text},
          {"witnesses", witnesses_json(fault.witnesses)}};
}

Json finding_json(const check::Finding& finding) {
  Json one{{"expectation", finding.expectation},
           {"check", finding.check},
           {"name", finding.name},
           {"of", finding.of},
           {"says", check::to_text(finding.says)},
           {"text", finding.text}};
  if (!finding.otherwise.empty()) one["otherwise"] = finding.otherwise;
  one["witnesses"] = witnesses_json(finding.witnesses);
  return one;
}

}  // namespace

Json result_json(const check::Judged& judged) {
  const check::Result& result = judged.result;
  Json faults = Json::array(), skews = Json::array(), findings = Json::array();
  for (const check::FaultFinding& fault : result.faults) faults.push_back(fault_json(fault));
  for (const check::SkewFinding& skew : result.skews) {
    skews.push_back({{"ids", skew.ids},
                     {"instances", skew.instances},
                     {"surely_ns", skew.surely_ns},
                     {"at_most_ns", skew.at_most_ns}});
  }
  for (const check::Finding& finding : result.findings) findings.push_back(finding_json(finding));
  return {{"scenario", judged.scenario.name},
          {"verdict", check::to_text(result.verdict)},
          {"exit", static_cast<int>(check::exit_of(result.verdict))},
          {"why", result.why},
          {"faults", std::move(faults)},
          {"skews", std::move(skews)},
          {"findings", std::move(findings)},
          {"by_hand", result.by_hand}};
}

}  // namespace unplug::reports
