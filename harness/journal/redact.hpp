// Sees every event before it is hashed and takes out what must not be published.
//
// The rule set is empty for now: nothing that unplug records is secret. Rules belong here and
// nowhere else, so that no event can go around them.
#pragma once

#include "journal/event.hpp"

namespace unplug::journal {

void redact(Event& event);

}  // namespace unplug::journal
