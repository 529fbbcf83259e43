#include "check/still.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace unplug::check {
namespace {

bool touches(const FaultRecord& fault, const std::string& node) {
  return fault.node == node || std::ranges::any_of(fault.roles, [&](const auto& role) {
           return role.second.node == node;
         });
}

// A process of the seat that is held is frozen; what is not held (a kill) keeps nobody still.
bool keeps_still(const Question& q, const FaultRecord& fault, const std::string& seat,
                 Still still) {
  if (!fault.fired || fault.lasting) return false;
  const bool cut_off = fault.cuts == scenario::Cuts::kLink && still == Still::kAsleepOrCutOff;
  if (cut_off || fault.cuts == scenario::Cuts::kNode) return touches(fault, q.run.node_of(seat));
  const scenario::Part* part = q.target.part(fault.victim.part);
  const bool child = part != nullptr && !part->child_of.empty();  // its worker goes on
  return fault.victim.seat == seat && fault.victim.pid.has_value() && !child;
}

using Window = std::pair<std::int64_t, std::int64_t>;

// Two faults at one time keep nobody still twice.
std::int64_t covered(std::vector<Window> windows, std::int64_t from, std::int64_t to) {
  std::ranges::sort(windows);
  std::int64_t sum = 0;
  for (const auto& [begin, end] : windows) {
    const std::int64_t last = std::min(end, to);
    if (last <= std::max(begin, from)) continue;
    sum += last - std::max(begin, from);
    from = last;
  }
  return sum;
}

// At least, and at most.
Span still_time(const Question& q, const std::string& seat, Still how, Span from, Span to) {
  std::vector<Window> sure, perhaps;
  for (const FaultRecord& fault : q.run.faults) {
    if (!keeps_still(q, fault, seat, how)) continue;
    sure.emplace_back(fault.fired->hi, fault.reverting ? fault.reverting->lo : to.lo);
    perhaps.emplace_back(fault.fired->lo, fault.reverted ? fault.reverted->hi : to.hi);
  }
  return {covered(std::move(sure), from.hi, to.lo), covered(std::move(perhaps), from.lo, to.hi)};
}

}  // namespace

Span awake_time(const Question& q, const std::string& seat, Still how, Span from, Span to) {
  const Span whole = elapsed(from, to), still = still_time(q, seat, how, from, to);
  return {std::max<std::int64_t>(0, whole.lo - still.hi),
          std::max<std::int64_t>(0, whole.hi - still.lo)};
}

}  // namespace unplug::check
