// The nodes' clocks, seen from the controller's.
//
//   controller  --t0-------------------t1-->     the node read nt somewhere in between, so any
//   node             ----nt----------->          nt' of the same boot is [t0, t1] + (nt' - nt)
//
// Each round trip bounds each moment; all of them together bound it best.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "check/span.hpp"
#include "journal/event.hpp"

namespace unplug::check {

// /proc/uptime, which the guards read, counts in steps of 10 ms.
inline constexpr std::int64_t kClockStep = 10'000'000;
// How far two clocks may drift apart: what a kernel may slew (adjtimex: 500 ppm).
inline constexpr std::int64_t kDriftPpm = 500;

class Clocks {
 public:
  void add(const journal::Event& clock);  // of kind `clock`
  std::optional<Span> at(const std::string& node, const journal::NodeTime& time) const;

 private:
  struct RoundTrip {
    std::int64_t t0, nt, t1;
  };
  std::map<std::pair<std::string, std::string>, std::vector<RoundTrip>> trips_;  // node, boot
};

}  // namespace unplug::check
