// The sleep of a node, by the node's first process: frames dropped, then everything stopped.
//
//     drop frames -> note who is stopped -> stop all -> wait -> go on (but the noted) -> let frames
//     in
//
// Frames come first, because a host whose processes are merely stopped still answers ping and
// completes TCP connections. No cgroup freezer: a frozen task survives kill -9, and then a killed
// lab would stay. CLOCK_MONOTONIC runs on, unlike in a real sleep; reports say "emulated sleep".
#pragma once

#include <chrono>
#include <optional>
#include <string>

namespace unplug::embedded {

// "sleep 4.5", as it comes through /run/firmware; nullopt when it is anything else, or longer
// than an hour.
std::optional<std::chrono::milliseconds> sleep_asked(const std::string& line);

// Blocks for that long. To be called by pid 1 of the node.
void sleep_node(std::chrono::milliseconds how_long);

}  // namespace unplug::embedded
