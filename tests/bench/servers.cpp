#include "bench/servers.hpp"

#include <fmt/format.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace unplug::bench {
namespace {

constexpr int kPerSshd = 10;

std::string address_of(int node) {
  return fmt::format("127.0.{}.{}", 1 + node / 200, 1 + node % 200);
}

}  // namespace

Servers::Servers(int nodes) {
  for (int first = 0; first < nodes; first += kPerSshd) {
    std::string settings = "MaxStartups 2000:100:2000\nMaxSessions 100\nSetEnv SHLVL=3\n";
    for (int i = first; i < first + kPerSshd; ++i) {
      settings += "ListenAddress " + address_of(i) + "\n";
    }
    sshds_.push_back(std::make_unique<test::Sshd>(settings));
    for (int i = first; i < first + kPerSshd && i < nodes; ++i) {
      scenario::LabNode node = sshds_.back()->node();
      node.name = fmt::format("n{}", i + 1);
      node.address = address_of(i);
      nodes_.push_back(std::move(node));
    }
  }
}

void Servers::write_files(const std::string& folder) const {
  auto list = nlohmann::json::array();
  std::ofstream config(folder + "/ssh_config");
  for (const auto& node : nodes_) {
    list.push_back({{"name", node.name},
                    {"address", node.address},
                    {"port", node.port},
                    {"user", node.user},
                    {"identity", node.identity},
                    {"host_key", node.host_key}});
    config << fmt::format("Host {}\n  HostName {}\n  Port {}\n  User {}\n  IdentityFile {}\n",
                          node.name, node.address, node.port, node.user, node.identity);
  }
  // As a user of a lab would have it, but for the keys, which nobody has seen before.
  config << "Host *\n  IdentitiesOnly yes\n  IdentityAgent none\n  BatchMode yes\n"
         << "  StrictHostKeyChecking no\n  UserKnownHostsFile /dev/null\n  LogLevel ERROR\n";
  std::ofstream(folder + "/nodes.json") << list.dump(1) << "\n";
}

std::vector<scenario::LabNode> read_nodes(const std::string& folder, std::size_t count) {
  std::ifstream in(folder + "/nodes.json");
  const auto list = nlohmann::json::parse(in);
  if (list.size() < count) throw std::runtime_error("the servers have fewer nodes than asked for");
  std::vector<scenario::LabNode> nodes;
  for (std::size_t i = 0; i < count; ++i) {
    scenario::LabNode node;
    node.name = list[i].at("name");
    node.address = list[i].at("address");
    node.port = list[i].at("port");
    node.user = list[i].at("user");
    node.identity = list[i].at("identity");
    node.host_key = list[i].at("host_key");
    nodes.push_back(std::move(node));
  }
  return nodes;
}

}  // namespace unplug::bench
