// The lab's networks: a bridge for control, a pair of interfaces per data link.
#pragma once

#include <sys/types.h>

#include <vector>

#include "embedded/blueprint.hpp"

namespace unplug::embedded {

// In the controller: makes every interface, each node's ends inside the node right away.
// `nodes` are the nodes' first processes, in the order of lab.sites.
void build_network(const Blueprint& lab, const std::vector<pid_t>& nodes);

// In a node: addresses on what the controller has put there.
void bring_up_node(const Blueprint& lab, std::size_t site);

}  // namespace unplug::embedded
