#include "check/still.hpp"

#include <algorithm>

namespace unplug::check {
namespace {

bool touches(const FaultRecord& fault, const std::string& node) {
  return fault.node == node || std::ranges::any_of(fault.roles, [&](const auto& role) {
           return role.second.node == node;
         });
}

// A process of the seat that is held is frozen; what is not held (a kill) keeps nobody still.
bool keeps_still(const Question& q, const FaultRecord& fault, const std::string& seat) {
  if (!fault.fired || fault.lasting) return false;
  if (fault.cuts == scenario::Cuts::kNode || fault.cuts == scenario::Cuts::kLink) {
    return touches(fault, q.run.node_of(seat));
  }
  return fault.victim.seat == seat && fault.victim.pid.has_value();
}

std::int64_t overlap(std::int64_t a, std::int64_t b, std::int64_t from, std::int64_t to) {
  return std::max<std::int64_t>(0, std::min(b, to) - std::max(a, from));
}

}  // namespace

Span still_time(const Question& q, const std::string& seat, Span from, Span to) {
  Span still;
  for (const FaultRecord& fault : q.run.faults) {
    if (!keeps_still(q, fault, seat)) continue;
    const Span fired = *fault.fired;
    const Span ends = fault.reverting.value_or(Span{to.hi, to.hi});
    const std::int64_t over = fault.reverted ? fault.reverted->hi : to.hi;
    still.lo += overlap(fired.hi, ends.lo, from.hi, to.lo);
    still.hi += overlap(fired.lo, over, from.lo, to.hi);
  }
  return still;
}

bool asleep_once(const Question& q, const std::string& node) {
  return std::ranges::any_of(q.run.faults, [&](const FaultRecord& fault) {
    return fault.fired && fault.cuts == scenario::Cuts::kNode && touches(fault, node);
  });
}

}  // namespace unplug::check
