// Time in which a seat could not work because of us: frozen, asleep, or cut off.
#pragma once

#include <string>

#include "check/checks.hpp"

namespace unplug::check {

// How much of [from, to] a fault of ours certainly, and at most, kept the seat still.
Span still_time(const Question& q, const std::string& seat, Span from, Span to);

// Was the node put to sleep, so that its observer was blind and nothing happened there?
bool asleep_once(const Question& q, const std::string& node);

}  // namespace unplug::check
