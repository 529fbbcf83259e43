// What a process that should have ended is doing (docs/semantics.md, Hang).
#pragma once

#include <string>

#include "check/checks.hpp"

namespace unplug::check {

// "hangs busy (97 % of a core)", "hangs idle", "hangs mixed"; "makes progress again, late"; or
// "goes on as if nothing had happened". `from`: when it should have noticed.
std::string hang_of(const Question& q, const Process& process, Span from);

}  // namespace unplug::check
