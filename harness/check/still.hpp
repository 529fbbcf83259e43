// Time in which a seat could not work because of us: frozen, asleep, or cut off.
#pragma once

#include <string>

#include "check/checks.hpp"

namespace unplug::check {

// Asleep: its process frozen, or its node asleep. Cut off: also a link of its node down.
enum class Still { kAsleep, kAsleepOrCutOff };

// How long from `from` to `to`, without the time in which a fault of ours kept the seat still.
Span awake_time(const Question& q, const std::string& seat, Still still, Span from, Span to);

}  // namespace unplug::check
