// Faults that are fired together, on one node or many: how far apart they really were.
#pragma once

#include <string>
#include <vector>

#include "check/faults.hpp"
#include "check/span.hpp"
#include "scenario/scenario.hpp"

namespace unplug::check {

// The instances of a fault, and of those that are fired `with` it.
struct Skew {
  std::vector<std::string> ids;
  std::size_t instances = 0;
  Span apart;  // the first from the last: surely so far, at most so far
};

// Of every such group of which two or more were fired, in the order of the scenario. An instance
// that cannot be shown to have fired within its fault's `skew` of the others is not confirmed.
std::vector<Skew> judge_skews(const scenario::Scenario& scenario, std::vector<FaultRecord>& faults);

}  // namespace unplug::check
