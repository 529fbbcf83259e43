// The rows of ssh_bench, each one JSON object. `folder` is what Servers::write_files wrote.
#pragma once

#include <string>

#include "bench/figures.hpp"

namespace unplug::bench {

// Connects `count` nodes at once, then runs `true` on all of them at once.
Json connect_ours(const std::string& folder, std::size_t count);
Json connect_pump(const std::string& folder, std::size_t count);

// On one open session, in turn: a command in a channel of its own, and a builtin asked of the
// resident shell, by us and by the bare pump.
Json talk(const std::string& folder, int rounds);

// A process kill armed on `count` nodes by their real guards, fired at once; from the decision to
// the victim's own clock when the signal came. `bare` is a shell that reads one line and kills.
Json fire_ours(const std::string& folder, std::size_t count, int rounds);
Json fire_bare(const std::string& folder, std::size_t count, int rounds);

}  // namespace unplug::bench
