// No two faults hold one thing at once: an undo could not know which state was "before".
#pragma once

#include <vector>

#include "run/plan.hpp"

namespace unplug::run {

// Throws Error(kUsage) when two instances that hold the same thing are neither ordered by
// `after` nor apart in time for certain.
void refuse_overlaps(const std::vector<FaultPlan>& faults);

}  // namespace unplug::run
