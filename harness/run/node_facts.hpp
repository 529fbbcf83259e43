// What each node is: its system and machine, and the versions that the target asks for.
#pragma once

#include <string>
#include <vector>

#include "run/context.hpp"

namespace unplug::run {

// System, kernel, machine and cores of each node, journaled; kept in the context.
asio::awaitable<void> read_facts(Stage& stage);

// The versions that the target's profile asks for, journaled. "ffmpeg on node1 = 5.1.9" and so on:
// part of what a baseline depends on.
asio::awaitable<std::vector<std::string>> read_versions(Stage& stage);

}  // namespace unplug::run
