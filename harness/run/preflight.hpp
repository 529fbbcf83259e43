// Everything that must be true before a run touches anything; all problems at once.
//
// Reaches every node, reads facts and clocks, checks the opt-in marker, takes the lock on every
// node or on none, looks for leftovers, and asks every injector's `probe`.
#pragma once

#include <string>
#include <vector>

#include "run/context.hpp"

namespace unplug::run {

// Connects to every node of the plan. Problems, empty when all stand.
asio::awaitable<std::vector<std::string>> reach(Context& context);

// Facts and clock of each node, journaled.
asio::awaitable<void> read_facts(Stage& stage);
asio::awaitable<void> read_clocks(Stage& stage);

// The versions that the target's profile asks for, journaled. "ffmpeg on node1 = 5.1.9" and so on:
// part of what a baseline depends on.
asio::awaitable<std::vector<std::string>> read_versions(Stage& stage);

asio::awaitable<std::vector<std::string>> check_markers(Context& context);

// Every injector's probe at every role: without a folder on the node (`unplug plan`, writes
// nothing), or by the run's folder.
asio::awaitable<std::vector<std::string>> probe(Context& context);
asio::awaitable<std::vector<std::string>> probe(Stage& stage);

// The lock on every node or on none. `wait`: how long to queue for it.
asio::awaitable<std::vector<std::string>> take_locks(Context& context, Duration wait);
asio::awaitable<void> renew_locks(Context& context, const bool& done);
asio::awaitable<void> release_locks(Context& context);

// Undoes what earlier runs left on the nodes; problems when something cannot be undone.
asio::awaitable<std::vector<std::string>> clear_leftovers(Stage& stage);

}  // namespace unplug::run
