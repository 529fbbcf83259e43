// The built-in lab: hosts made of namespaces, each with a real sshd (docs/embedded-lab.md).
//
// Linux only. Whatever happens to any of its processes, nothing of a lab is left on the host.
#pragma once

#include <string>
#include <vector>

namespace unplug::embedded {

struct Options {
  int nodes = 2;
  std::vector<std::string> command;   // empty = an interactive shell
  std::vector<std::string> writable;  // host folders that stay writable inside (made if missing)
  std::string fault_lease = "3s";     // of the lab file; short, so that tests are
};

// "two-node" is 2, "five-node" 5, "7-node" 7; throws Error(kUsage) on anything else, with a hint.
int nodes_of(const std::string& name);

// What such a lab calls itself in lab.json and in the nodes' opt-in markers: a name of a lab starts
// with a letter, so "5-node" is "five-node" there, and from ten nodes on it is "nodes-12".
std::string name_of(int nodes);

// Builds the lab, runs the command inside as its controller with UNPLUG_LAB set to lab.json,
// takes the lab down, and returns the command's exit status (128 + n after signal n). Throws
// Error(kInconclusive) with the mend when this machine cannot have a lab.
int run_lab(const Options& options);

}  // namespace unplug::embedded
