// The controller's continuous clock: counts while the machine sleeps, cannot be set.
//
// CLOCK_BOOTTIME on Linux; on darwin CLOCK_MONOTONIC, which counts in sleep there. Every
// time stamp of the journal and every deadline is on it. Timers of the event loop run on
// CLOCK_MONOTONIC; a gap between the two means that this machine slept.
#pragma once

#include <chrono>
#include <string>

namespace unplug {

struct BootClock {
  using duration = std::chrono::nanoseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<BootClock>;
  static constexpr bool is_steady = true;
  static time_point now() noexcept;
};

// A moment after which a caller no longer wants to wait. Every operation that talks to a
// node takes one; there is no default.
using Deadline = BootClock::time_point;

inline Deadline within(BootClock::duration d) { return BootClock::now() + d; }

// Wall time for people, RFC 3339 in UTC with milliseconds: "2026-11-30T18:41:50.123Z".
std::string wall_now();

// "20261130-184150", for names of run folders.
std::string wall_stamp();

}  // namespace unplug
