// What `unplug heal --into RUN` brought from the nodes, as events of source "heal".
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "journal/event.hpp"

namespace unplug::check {

// Reads folder/*.jsonl: NODE.FAULT.jsonl is a guard's log, NODE.heal.jsonl what heal.sh said
// (docs/node-protocol.md). `nodes` are the lab's names, longest match first. Lines that are
// neither are left out: a log may be torn.
std::vector<journal::Event> read_healed(const std::filesystem::path& folder,
                                        const std::vector<std::string>& nodes);

// One line, or an event without kind when it says nothing of a fault's state. `fault` is the
// instance that the file is of, "" for heal.sh's. A guard names its boot when it is armed and when
// it undoes, which may be in another one; `boot` carries it to the lines between.
journal::Event healed_event(const std::string& line, const std::string& node,
                            const std::string& fault, std::string& boot);

}  // namespace unplug::check
