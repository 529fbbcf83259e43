// From the scenario's faults to fault instances: victims, roles, leases, draws. Part of plan.cpp.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "run/plan.hpp"

namespace unplug::run {

// `so_far` has seed and seats.
std::vector<FaultPlan> plan_faults(const scenario::Bundle& bundle, const Plan& so_far);

// "claim_lease" -> "CLAIM_LEASE".
std::string upper(std::string_view name);

// A parameter's value as scripts take it: seconds, bytes, yes/no.
std::string for_script(const scenario::Param& param, const std::string& value);

// 64 bits that depend on the seed and on what is drawn, and on nothing else: adding a fault to a
// scenario changes no other fault's draw.
std::uint64_t draw(std::uint64_t seed, std::string_view what);

}  // namespace unplug::run
