#include "check/clocks.hpp"

#include <cstdlib>

#include "check/fields.hpp"

namespace unplug::check {
namespace {

std::int64_t error_after(std::int64_t distance) {
  return kClockStep + std::abs(distance) / 1'000'000 * kDriftPpm;
}

}  // namespace

void Clocks::add(const journal::Event& clock) {
  const auto t0 = integer_of(clock.data, "t0");
  const auto nt = integer_of(clock.data, "nt");
  const auto t1 = integer_of(clock.data, "t1");
  if (!t0 || !nt || !t1 || *t1 < *t0 || !clock.node_time) return;
  trips_[{clock.node, clock.node_time->boot}].push_back({*t0, *nt, *t1});
}

std::optional<Span> Clocks::at(const std::string& node, const journal::NodeTime& time) const {
  const auto trips = trips_.find({node, time.boot});
  if (trips == trips_.end()) return std::nullopt;
  std::optional<Span> best, all;
  for (const RoundTrip& trip : trips->second) {
    const std::int64_t distance = time.ns - trip.nt;
    const std::int64_t error = error_after(distance);
    const Span span{trip.t0 + distance - error, trip.t1 + distance + error};
    all = all ? hull(*all, span) : span;
    best = best ? Span{std::max(best->lo, span.lo), std::min(best->hi, span.hi)} : span;
  }
  // Round trips that contradict each other: a clock ran off. Then nothing better is known than
  // what they say together.
  return best->lo <= best->hi ? best : all;
}

}  // namespace unplug::check
