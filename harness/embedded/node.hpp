// A node: the life of its first process, from the clone to the end of the lab.
//
// It is init, service supervisor and firmware in one: reaps, starts sshd and the boot sweep, and
// obeys /run/firmware, whose only word is "sleep SECONDS".
#pragma once

#include <cstddef>
#include <string>

#include "embedded/inventory.hpp"
#include "embedded/process.hpp"
#include "embedded/view.hpp"

namespace unplug::embedded {

// What every process of a lab that is being built knows.
struct Plans {
  Blueprint lab;
  View view;
  Keys keys;
  std::string sshd;                         // full path: sshd starts itself again by it
  bool sshd_counts_failed_clients = false;  // OpenSSH 9.8 and later
};

// Namespaces that a node has for itself, as flags of clone.
int node_namespaces();

// In the cloned child. Speaks over `controller`: reads one byte when the network's interfaces
// are there, then says "ready" or the reason why it never will be.
int run_node(const Plans& plans, std::size_t site, Fd controller);

}  // namespace unplug::embedded
