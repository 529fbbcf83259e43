#include "embedded/blueprint.hpp"

#include "embedded/lab.hpp"

namespace unplug::embedded {
namespace {

// Readers of known_hosts (libssh2) do not find names under three letters: hence "node1".
Site site(int number) {
  return {"node" + std::to_string(number), "10.77.0." + std::to_string(10 + number)};
}

// One link needs no number ("tb", tb0 at both ends); more are tb1, tb2, ... around the first node.
Wire spoke(std::size_t index, bool only) {
  const std::string net = "10.78." + std::to_string(index);
  return {only ? "tb" : "tb" + std::to_string(index + 1),
          {0, "tb" + std::to_string(index), net + ".1/30"},
          {index + 1, "tb0", net + ".2/30"}};
}

}  // namespace

Blueprint blueprint(int nodes, const std::string& fault_lease) {
  Blueprint lab;
  lab.lab = name_of(nodes);
  lab.fault_lease = fault_lease;
  for (int i = 1; i <= nodes; ++i) lab.sites.push_back(site(i));
  for (std::size_t i = 0; i + 1 < lab.sites.size(); ++i) {
    lab.wires.push_back(spoke(i, nodes == 2));
  }
  return lab;
}

}  // namespace unplug::embedded
