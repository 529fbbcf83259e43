// An instant that is known only to lie between two others, on the controller's clock.
//
// Every comparison across nodes is one of intervals: what the clocks and the sampling leave open
// is "perhaps", and a check that meets it says cannot tell.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "base/units.hpp"

namespace unplug::check {

struct Span {
  std::int64_t lo = 0;  // ns; both ends belong
  std::int64_t hi = 0;
  bool operator==(const Span&) const = default;
};

// "At some time before": far enough in the past, and still safe to subtract from.
inline constexpr std::int64_t kUnknownPast = INT64_MIN / 4;
// Nobody knows when: a node's moment without a clock that places it.
inline constexpr Span kAnyTime{kUnknownPast, INT64_MAX / 4};

inline Span hull(Span a, Span b) { return {std::min(a.lo, b.lo), std::max(a.hi, b.hi)}; }
inline bool surely_before(Span a, Span b) { return a.hi < b.lo; }
inline bool perhaps_before(Span a, Span b) { return a.lo <= b.hi; }

// How long from `from` to `to`; nothing takes less than no time.
inline Span elapsed(Span from, Span to) {
  return {std::max<std::int64_t>(0, to.lo - from.hi), std::max<std::int64_t>(0, to.hi - from.lo)};
}

enum class Within { kYes, kNo, kPerhaps };
inline Within within(Span took, Duration limit) {
  if (took.hi <= limit.count()) return Within::kYes;
  return took.lo > limit.count() ? Within::kNo : Within::kPerhaps;
}

inline std::string people(std::int64_t ns) { return for_people(Duration{ns}); }

// "3.1 s", or "between 2.9 s and 3.3 s" where the difference matters.
inline std::string people(Span took) {
  if (took.lo == 0 || took.hi - took.lo > took.hi / 20) {
    return took.lo == 0 ? "at most " + people(took.hi)
                        : "between " + people(took.lo) + " and " + people(took.hi);
  }
  return people(took.hi);
}

}  // namespace unplug::check
