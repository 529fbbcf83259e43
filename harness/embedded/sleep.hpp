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
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace unplug::embedded {

// "sleep 4.5", as it comes through /run/firmware; nullopt when it is anything else, or longer
// than an hour.
std::optional<std::chrono::milliseconds> sleep_asked(const std::string& line);

// What was done, for the node's own record: ns of CLOCK_BOOTTIME, and how many processes stood
// still.
struct Slept {
  std::int64_t from = 0, to = 0;
  std::size_t stopped = 0;
};

// "sleep FROM TO STOPPED", a line of /run/unplug/sleep.log.
std::string to_line(const Slept& slept);

// Blocks for that long; nullopt when it could not be done. To be called by pid 1 of the node.
std::optional<Slept> sleep_node(std::chrono::milliseconds how_long);

}  // namespace unplug::embedded
