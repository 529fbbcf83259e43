// From findings to one verdict: worst wins, and nothing is a pass that was not shown.
#pragma once

#include "check/finding.hpp"
#include "check/history.hpp"

namespace unplug::check {

// Fills in `verdict` and `why` from the faults and findings that are there already.
void decide(const scenario::Scenario& scenario, const History& run, Result& result);

}  // namespace unplug::check
