// Diagnostics for whoever debugs unplug itself: stderr, off unless UNPLUG_LOG=debug (or info).
//
// What a user must know is never here: it is the journal, the report or an Error.
#pragma once

#include <string>

namespace unplug {

void log_debug(const std::string& text);
void log_info(const std::string& text);

}  // namespace unplug
