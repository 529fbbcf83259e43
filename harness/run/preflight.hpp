// Everything that must be true before a run touches anything; all problems at once.
//
// Reaches every node, checks the opt-in marker, looks for leftovers, and asks every injector's
// `probe`. (Facts, clocks and locks of the nodes: node_facts.hpp, node_clocks.hpp, node_locks.hpp.)
#pragma once

#include <string>
#include <vector>

#include "run/context.hpp"

namespace unplug::run {

// Connects to every node of the plan. Problems, empty when all stand.
asio::awaitable<std::vector<std::string>> reach(Context& context);

asio::awaitable<std::vector<std::string>> check_markers(Context& context);

// Every injector's probe at every role: without a folder on the node (`unplug plan`, writes
// nothing), or by the run's folder.
asio::awaitable<std::vector<std::string>> probe(Context& context);
asio::awaitable<std::vector<std::string>> probe(Stage& stage);

// Undoes what earlier runs left on the nodes; problems when something cannot be undone.
asio::awaitable<std::vector<std::string>> clear_leftovers(Stage& stage);

}  // namespace unplug::run
