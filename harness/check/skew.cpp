#include "check/skew.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace unplug::check {
namespace {

// By fault id: the one that all who are fired with it wait for, directly or through others.
std::map<std::string, std::string> barriers_of(const scenario::Scenario& scenario) {
  std::map<std::string, std::string> barriers;
  // `with` names a fault; the reader has refused circles.
  for (const scenario::Fault& fault : scenario.faults) {
    const scenario::Fault* at = &fault;
    while (const auto* with = std::get_if<scenario::With>(&at->trigger)) {
      const auto named = std::ranges::find(scenario.faults, with->fault, &scenario::Fault::id);
      if (named == scenario.faults.end()) break;
      at = &*named;
    }
    barriers[fault.id] = at->id;
  }
  return barriers;
}

Skew skew_of(const std::vector<FaultRecord*>& together) {
  Skew skew;
  skew.instances = together.size();
  std::int64_t first = INT64_MAX, last = INT64_MIN, first_by = INT64_MAX, last_from = INT64_MIN;
  for (const FaultRecord* fault : together) {
    if (std::ranges::find(skew.ids, fault->id) == skew.ids.end()) skew.ids.push_back(fault->id);
    first = std::min(first, fault->fired->lo);
    first_by = std::min(first_by, fault->fired->hi);
    last_from = std::max(last_from, fault->fired->lo);
    last = std::max(last, fault->fired->hi);
  }
  skew.apart = {std::max<std::int64_t>(0, last_from - first_by), last - first};
  return skew;
}

void hold_to(const scenario::Fault& asked, const Skew& skew,
             const std::vector<FaultRecord*>& together) {
  if (!asked.skew || within(skew.apart, *asked.skew) == Within::kYes) return;
  for (FaultRecord* fault : together) {
    if (!fault->confirmed) continue;
    fault->confirmed = false;
    fault->why = fmt::format("fired {} apart from the others; a skew of {} was asked",
                             people(skew.apart), people(asked.skew->count()));
  }
}

}  // namespace

std::vector<Skew> judge_skews(const scenario::Scenario& scenario,
                              std::vector<FaultRecord>& faults) {
  const auto barriers = barriers_of(scenario);
  std::vector<Skew> skews;
  for (const scenario::Fault& barrier : scenario.faults) {
    std::vector<FaultRecord*> together;
    for (FaultRecord& fault : faults) {
      const auto of = barriers.find(fault.id);
      if (of != barriers.end() && of->second == barrier.id && fault.fired)
        together.push_back(&fault);
    }
    if (together.size() < 2) continue;
    skews.push_back(skew_of(together));
    for (const scenario::Fault& asked : scenario.faults) {
      if (barriers.at(asked.id) == barrier.id) hold_to(asked, skews.back(), together);
    }
  }
  return skews;
}

}  // namespace unplug::check
