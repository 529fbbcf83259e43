#include "embedded/network.hpp"
#ifdef __linux__

#include <string>

#include "embedded/process.hpp"

namespace unplug::embedded {
namespace {

std::string up(const std::string& interface, const std::string& address) {
  return "addr add " + address + " dev " + interface + "\nlink set " + interface + " up\n";
}

// One `ip` for all of it: starting the program is what costs.
void run_batch(const std::string& lines) { must_run({"ip", "-batch", "-"}, lines); }

}  // namespace

void build_network(const Blueprint& lab, const std::vector<pid_t>& nodes) {
  std::string lines = "link set lo up\nlink add control type bridge stp_state 0\n" +
                      up("control", lab.controller + "/24");
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const std::string port = "to-" + lab.sites[i].name;
    lines += "link add " + port + " type veth peer name eth0 netns " + std::to_string(nodes[i]) +
             "\nlink set " + port + " master control up\n";
  }
  for (const Wire& wire : lab.wires) {
    lines += "link add " + wire.near.interface + " netns " + std::to_string(nodes[wire.near.site]) +
             " type veth peer name " + wire.far.interface + " netns " +
             std::to_string(nodes[wire.far.site]) + "\n";
  }
  run_batch(lines);
}

void bring_up_node(const Blueprint& lab, std::size_t site) {
  std::string lines = "link set lo up\n" + up("eth0", lab.sites[site].address + "/24");
  for (const Wire& wire : lab.wires) {
    for (const WireEnd* end : {&wire.near, &wire.far}) {
      if (end->site == site) lines += up(end->interface, end->address);
    }
  }
  run_batch(lines);
}

}  // namespace unplug::embedded
#endif  // __linux__
