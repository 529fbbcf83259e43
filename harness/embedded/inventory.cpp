#include "embedded/inventory.hpp"

#include <nlohmann/json.hpp>

namespace unplug::embedded {
namespace {

using Json = nlohmann::ordered_json;

Json node_json(const Site& site, const Key& host_key) {
  return {
      {"name", site.name}, {"platform", "linux"},   {"address", site.address},         {"port", 22},
      {"root", "already"}, {"scratch", "/scratch"}, {"host_key", host_key.fingerprint}};
}

Json end_json(const Blueprint& lab, const WireEnd& end) {
  return {
      {"node", lab.sites[end.site].name}, {"interface", end.interface}, {"address", end.address}};
}

Json link_json(const Blueprint& lab, const Wire& wire) {
  return {{"name", wire.name},
          {"kind", "thunderbolt"},
          {"ends", {end_json(lab, wire.near), end_json(lab, wire.far)}}};
}

std::string bare(const std::string& address_with_prefix) {
  return address_with_prefix.substr(0, address_with_prefix.find('/'));
}

// Every address under which a site answers: control first, then its data links.
std::vector<std::string> addresses(const Blueprint& lab, std::size_t site) {
  std::vector<std::string> all = {lab.sites[site].address};
  for (const Wire& wire : lab.wires) {
    for (const WireEnd* end : {&wire.near, &wire.far}) {
      if (end->site == site) all.push_back(bare(end->address));
    }
  }
  return all;
}

}  // namespace

std::string lab_json(const Blueprint& lab, const Keys& keys) {
  Json nodes = Json::array();
  for (std::size_t i = 0; i < lab.sites.size(); ++i) {
    nodes.push_back(node_json(lab.sites[i], keys.hosts[i]));
  }
  Json links = Json::array();
  for (const Wire& wire : lab.wires) links.push_back(link_json(lab, wire));
  const std::string home = kHome;
  const Json file = {
      {"lab", lab.lab},
      {"embedded", true},
      {"controller", "separate"},
      {"ssh", {{"user", "root"}, {"identity", home + "/.ssh/id_ed25519"}}},
      {"known_hosts", home + "/.ssh/known_hosts"},
      {"nodes", nodes},
      {"links", links},
      {"limits",
       {{"longest_fault", "2m"},
        {"fault_lease", lab.fault_lease},
        {"margin", "2s"},
        {"disk_floor", "8MiB"},
        {"memory_floor", "256MiB"}}},
      // Names what is shipped; of an embedded lab every injector may be used.
      {"allow",
       Json::array({"process_kill", "process_freeze", "cancel", "cancel_signal", "node_sleep",
                    "disk_fill", "model_mismatch", "link_drop", "link_flap", "link_block",
                    "link_degrade", "address_loss"})},
  };
  return file.dump(2) + "\n";
}

std::string known_hosts(const Blueprint& lab, const Keys& keys) {
  std::string text;
  for (std::size_t i = 0; i < lab.sites.size(); ++i) {
    text += lab.sites[i].name;
    for (const std::string& address : addresses(lab, i)) text += "," + address;
    text += " " + keys.hosts[i].open + "\n";
  }
  return text;
}

std::string hosts_file(const Blueprint& lab) {
  std::string text = "127.0.0.1 localhost\n::1 localhost\n" + lab.controller + " controller\n";
  for (const Site& site : lab.sites) text += site.address + " " + site.name + "\n";
  return text;
}

std::string ssh_config() {
  return "User root\n"
         "IdentityFile ~/.ssh/id_ed25519\n"
         "IdentitiesOnly yes\n"
         "StrictHostKeyChecking yes\n"
         "ConnectTimeout 5\n";
}

std::string passwd_file(const std::string& home, const std::string& shell) {
  return "root:x:0:0:root:" + home + ":" + shell +
         "\n"
         "sshd:x:102:65534::/run/sshd:/usr/sbin/nologin\n"
         "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n";
}

// "*" is an account without a password; sshd calls one with "!" locked and refuses its keys.
std::string shadow_file() {
  return "root:*:19000:0:99999:7:::\nsshd:*:19000:0:99999:7:::\nnobody:*:19000:0:99999:7:::\n";
}

std::string group_file() { return "root:x:0:\ntty:x:5:\nshadow:x:42:\nnogroup:x:65534:\n"; }

}  // namespace unplug::embedded
