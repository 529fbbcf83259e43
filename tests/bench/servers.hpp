// Private sshds on loopback, so that hundreds of nodes have addresses of their own.
//
// One sshd listens at ten addresses of 127/8 (it takes 16 at most); login start files are kept out
// (SHLVL=3 keeps bash from sourcing ~/.bashrc, which costs 150 ms on some machines).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "node/sshd.hpp"
#include "scenario/lab.hpp"

namespace unplug::bench {

class Servers {
 public:
  explicit Servers(int nodes);

  // Writes nodes.json (for rows of ours) and ssh_config (for ssh and clush: hosts n1, n2, ...).
  void write_files(const std::string& folder) const;

 private:
  std::vector<std::unique_ptr<test::Sshd>> sshds_;
  std::vector<scenario::LabNode> nodes_;
};

// The first `count` of what write_files wrote.
std::vector<scenario::LabNode> read_nodes(const std::string& folder, std::size_t count);

}  // namespace unplug::bench
