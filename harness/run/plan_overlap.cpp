#include "run/plan_overlap.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/error.hpp"

namespace unplug::run {
namespace {

const FaultPlan* first_of(const std::vector<FaultPlan>& faults, const std::string& id) {
  const auto found = std::ranges::find(faults, id, &FaultPlan::id);
  return found == faults.end() ? nullptr : &*found;
}

// Does `later` wait until `earlier` has ended, perhaps through others?
bool waits_for(const std::vector<FaultPlan>& faults, const FaultPlan& later,
               const std::string& earlier) {
  const FaultPlan* at = &later;
  for (std::size_t step = 0; at != nullptr && step <= faults.size(); ++step) {
    if (const auto* after = std::get_if<scenario::After>(&at->trigger)) {
      if (after->fault == earlier) return true;
      at = first_of(faults, after->fault);
    } else if (const auto* with = std::get_if<scenario::With>(&at->trigger)) {
      at = first_of(faults, with->fault);
    } else {
      return false;
    }
  }
  return false;
}

// When it fires, where that is known before the run.
std::optional<Duration> known_fire(const std::vector<FaultPlan>& faults, const FaultPlan& fault) {
  const FaultPlan* at = &fault;
  for (std::size_t step = 0; at != nullptr && step <= faults.size(); ++step) {
    if (at->drawn) return at->drawn;
    if (at->moment == Moment::kBeforeStart) return Duration{0};
    if (const auto* time = std::get_if<scenario::At>(&at->trigger)) return time->time;
    const auto* with = std::get_if<scenario::With>(&at->trigger);
    if (with == nullptr) return std::nullopt;
    at = first_of(faults, with->fault);
  }
  return std::nullopt;
}

bool apart(const std::vector<FaultPlan>& faults, const FaultPlan& a, const FaultPlan& b) {
  const auto fire_a = known_fire(faults, a);
  const auto fire_b = known_fire(faults, b);
  if (!fire_a || !fire_b) return false;
  const auto gone = [](const FaultPlan& f, Duration fire) {
    return fire + f.hold + f.undo_settle + std::chrono::seconds{1};
  };
  return gone(a, *fire_a) < *fire_b || gone(b, *fire_b) < *fire_a;
}

}  // namespace

void refuse_overlaps(const std::vector<FaultPlan>& faults) {
  for (std::size_t i = 0; i < faults.size(); ++i) {
    for (std::size_t j = i + 1; j < faults.size(); ++j) {
      const FaultPlan& a = faults[i];
      const FaultPlan& b = faults[j];
      if (a.lasting || b.lasting || a.thing != b.thing) continue;
      if (a.id != b.id && (waits_for(faults, a, b.id) || waits_for(faults, b, a.id))) continue;
      if (apart(faults, a, b)) continue;
      throw Error(Exit::kUsage, fmt::format("faults \"{}\" and \"{}\"", a.id, b.id),
                  fmt::format("they could hold {} at the same time", a.thing),
                  fmt::format("order them with \"after\": \"{}\"", a.id));
    }
  }
}

}  // namespace unplug::run
