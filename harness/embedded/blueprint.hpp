// What a built-in lab consists of: names, addresses and links. Pure; nothing is made here.
//
//     controller 10.77.0.1 ──┬────────────┬─────────── control network (a bridge)
//                       node1 .11     node2 .12
//                          └─ tb0 ───── tb0 ┘          data link 10.78.0.0/30
//
// With more nodes the data links are a star around node1, where the farm's files live: so every
// worker reaches the file server over a link that can be cut without touching another worker.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace unplug::embedded {

struct Site {
  std::string name;     // also its host name
  std::string address;  // on the control network, without prefix length
};

struct WireEnd {
  std::size_t site;       // index into Blueprint::sites
  std::string interface;  // as the node sees it
  std::string address;    // with prefix length
};

struct Wire {
  std::string name;
  WireEnd near, far;
};

struct Blueprint {
  std::string lab;
  std::string controller = "10.77.0.1";
  std::string fault_lease;
  std::vector<Site> sites;
  std::vector<Wire> wires;
};

Blueprint blueprint(int nodes, const std::string& fault_lease);

}  // namespace unplug::embedded
