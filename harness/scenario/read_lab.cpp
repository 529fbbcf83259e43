#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <set>

#include "base/units.hpp"
#include "scenario/read.hpp"

namespace unplug::scenario {
namespace {

// Names that mean something else where a node's name may stand.
const std::vector<std::string> kNotNodes = {"controller", "separate"};

// "~/x" is in the user's home; a relative path is beside the lab file.
std::string path_of(const Sheet& sheet, const std::string& text) {
  if (text.starts_with("~/")) {
    const char* home = std::getenv("HOME");
    return (home == nullptr ? std::string("~") : std::string(home)) + text.substr(1);
  }
  if (text.empty() || text.front() == '/') return text;
  return (sheet.folder() / text).lexically_normal().string();
}

struct SshDefaults {
  std::string user;
  std::string identity;
  std::string config;
  SshBy by = SshBy::kAuto;
};

void read_transport(Object& object, SshBy& by) {
  switch (
      object.word(object.find("transport"), "transport", {"auto", "libssh2", "ssh"}).value_or(3)) {
    case 0:
      by = SshBy::kAuto;
      break;
    case 1:
      by = SshBy::kLibssh2;
      break;
    case 2:
      by = SshBy::kProgram;
      break;
    default:
      break;
  }
}

SshDefaults read_ssh(Sheet& sheet, const Value* value, Lab& lab) {
  SshDefaults ssh;
  if (value == nullptr) return ssh;
  Object object(sheet, *value, "ssh");
  object.remarks();
  object.may("user", ssh.user);
  if (object.may("identity", ssh.identity)) ssh.identity = path_of(sheet, ssh.identity);
  if (object.may("known_hosts", lab.known_hosts)) lab.known_hosts = path_of(sheet, lab.known_hosts);
  if (object.may("config", ssh.config)) ssh.config = path_of(sheet, ssh.config);
  read_transport(object, ssh.by);
  return ssh;
}

bool is_host_key(const std::string& text) {
  constexpr std::string_view kPrefix = "SHA256:";
  constexpr std::size_t kDigest = 43;  // 32 bytes in base64 without padding
  if (!text.starts_with(kPrefix) || text.size() != kPrefix.size() + kDigest) return false;
  return std::all_of(text.begin() + kPrefix.size(), text.end(),
                     [](unsigned char c) { return std::isalnum(c) != 0 || c == '+' || c == '/'; });
}

void read_login(Sheet& sheet, Object& object, const SshDefaults& ssh, LabNode& node) {
  node.user = ssh.user;
  node.identity = ssh.identity;
  node.ssh_config = ssh.config;
  node.ssh_by = ssh.by;
  read_transport(object, node.ssh_by);
  object.may("user", node.user);
  if (object.may("identity", node.identity)) node.identity = path_of(sheet, node.identity);
  const Value* key = object.find("host_key");
  if (key == nullptr || !sheet.read(*key, "host_key", node.host_key)) return;
  if (!is_host_key(node.host_key)) {
    sheet.complain(*key, "\"host_key\" is no fingerprint",
                   "write SHA256: and 43 characters, as `ssh-keygen -lf` prints it");
  }
}

void read_node_name(Sheet& sheet, Object& object, LabNode& node) {
  const Value* name = object.need("name", "\"mini1\"");
  if (name == nullptr || !sheet.read(*name, "name", node.name)) return;
  if (!sheet.good_name(name->position, "node", node.name, kNotNodes)) return;
  // libssh2 looks up shorter host names wrongly in known_hosts.
  if (node.name.size() < 3) {
    sheet.complain(*name, fmt::format("node name \"{}\" is too short", node.name),
                   "write three letters or more");
  }
}

LabNode read_node(Sheet& sheet, const Value& value, const SshDefaults& ssh) {
  LabNode node;
  Object object(sheet, value, "node");
  object.remarks();
  read_node_name(sheet, object, node);
  if (object.word(object.need("platform", "\"linux\""), "platform", {"linux", "darwin"}) == 1U) {
    node.platform = Platform::kDarwin;
  }
  const Value* address = object.need("address", "\"10.77.0.11\"");
  // SAFETY: it is a word of a command line of ours.
  if (address != nullptr && sheet.read(*address, "address", node.address) &&
      node.address.starts_with("-")) {
    sheet.complain(*address, fmt::format("\"{}\" is no address", node.address),
                   "write the host's name or address");
  }
  if (const Value* port = object.find("port");
      port != nullptr && sheet.read(*port, "port", node.port.emplace())) {
    if (*node.port < 1 || *node.port > 65535) {
      sheet.complain(*port, fmt::format("there is no port {}", *node.port), "write 1 to 65535");
    }
  }
  read_login(sheet, object, ssh, node);
  switch (object.word(object.find("root"), "root", {"none", "sudo", "already"}).value_or(0)) {
    case 1:
      node.root = Root::kSudo;
      break;
    case 2:
      node.root = Root::kAlready;
      break;
    default:
      break;
  }
  const Value* scratch = object.find("scratch");
  if (scratch != nullptr && sheet.read(*scratch, "scratch", node.scratch) &&
      node.scratch.front() != '/') {
    sheet.complain(*scratch, fmt::format("\"{}\" is no absolute path", node.scratch),
                   "write where the bounded volume is mounted, such as \"/scratch\"");
  }
  return node;
}

void read_end(Sheet& sheet, const Value& value, const Lab& lab, LinkEnd& end) {
  Object object(sheet, value, "end");
  object.remarks();
  const Value* node = object.need("node", "\"mini1\"");
  if (node != nullptr && sheet.read(*node, "node", end.node) && lab.node(end.node) == nullptr) {
    sheet.unknown(node->position, "node", end.node, names_of(lab.nodes));
  }
  object.need("interface", end.interface, "\"tb0\"");
  const Value* address = object.find("address");
  if (address != nullptr && sheet.read(*address, "address", end.address) &&
      !is_address_with_prefix(end.address)) {
    sheet.complain(*address, fmt::format("\"{}\" is no address with its prefix", end.address),
                   "write it as \"10.78.0.1/30\"");
  }
}

Link read_link(Sheet& sheet, const Value& value, const Lab& lab) {
  Link link;
  Object object(sheet, value, "link");
  object.remarks();
  const Value* name = object.need("name", "\"tb\"");
  if (name != nullptr && sheet.read(*name, "name", link.name)) {
    sheet.good_name(name->position, "link", link.name);
  }
  object.may("kind", link.kind);
  const Value* ends = object.need("ends", R"([{"node": ...}, {"node": ...}])");
  if (ends == nullptr || !sheet.is_list(*ends, "ends")) return link;
  if (ends->items.size() != 2) {
    sheet.complain(*ends, fmt::format("this link has {} ends", ends->items.size()), "write two");
    return link;
  }
  read_end(sheet, ends->items[0], lab, link.near);
  read_end(sheet, ends->items[1], lab, link.far);
  if (!link.near.node.empty() && link.near.node == link.far.node) {
    sheet.complain(
        *ends,
        fmt::format("both ends of link \"{}\" are at node \"{}\"", link.name, link.near.node),
        "name two nodes");
  }
  return link;
}

template <class T>
void refuse_twins(Sheet& sheet, const Value& list, const char* kind, const std::vector<T>& all) {
  std::set<std::string> seen;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].name.empty() || seen.insert(all[i].name).second) continue;
    const Value* name = list.items[i].find("name");
    sheet.complain(*name, fmt::format("there are two {}s \"{}\"", kind, all[i].name),
                   "give each its own name");
  }
}

void read_nodes(Sheet& sheet, const Value* list, const SshDefaults& ssh, Lab& lab) {
  if (list == nullptr || !sheet.is_list(*list, "nodes")) return;
  for (const Value& node : list->items) lab.nodes.push_back(read_node(sheet, node, ssh));
  if (lab.nodes.empty()) sheet.complain(*list, "the lab has no node", "write one or more");
  refuse_twins(sheet, *list, "node", lab.nodes);
}

void read_links(Sheet& sheet, const Value* list, Lab& lab) {
  if (list == nullptr || !sheet.is_list(*list, "links")) return;
  for (const Value& link : list->items) lab.links.push_back(read_link(sheet, link, lab));
  refuse_twins(sheet, *list, "link", lab.links);
}

void positive(Sheet& sheet, Object& object, const char* key, Duration& into) {
  const Value* value = object.find(key);
  if (value == nullptr || !sheet.read(*value, key, into)) return;
  if (into <= Duration::zero()) {
    sheet.complain(*value, fmt::format("\"{}\" is no time at all", key), "write more than 0s");
  }
}

void read_limits(Sheet& sheet, const Value* value, LabLimits& limits) {
  if (value == nullptr) return;
  Object object(sheet, *value, "limits");
  object.remarks();
  positive(sheet, object, "longest_fault", limits.longest_fault);
  positive(sheet, object, "fault_lease", limits.fault_lease);
  positive(sheet, object, "margin", limits.margin);
  object.may_bytes("disk_floor", limits.disk_floor);
  object.may_bytes("memory_floor", limits.memory_floor);
}

void read_controller(Sheet& sheet, const Value* value, Lab& lab) {
  if (value == nullptr || !sheet.read(*value, "controller", lab.controller)) return;
  if (lab.controller == "separate" || lab.node(lab.controller) != nullptr) return;
  std::vector<std::string> names = names_of(lab.nodes);
  names.emplace_back("separate");
  sheet.unknown(value->position, "node", lab.controller, names);
}

}  // namespace

Lab read_lab(Sheet& sheet, const Value& root) {
  Lab lab;
  Object object(sheet, root, "lab");
  object.file_remarks();
  const Value* name = object.need("lab", "\"cupboard\"");
  if (name != nullptr && sheet.read(*name, "lab", lab.name)) {
    sheet.good_name(name->position, "lab", lab.name);
  }
  if (object.may("known_hosts", lab.known_hosts)) lab.known_hosts = path_of(sheet, lab.known_hosts);
  const SshDefaults ssh = read_ssh(sheet, object.find("ssh"), lab);
  read_nodes(sheet, object.need("nodes", R"([{"name": "mini1", ...}])"), ssh, lab);
  read_links(sheet, object.find("links"), lab);
  read_controller(sheet, object.find("controller"), lab);
  read_limits(sheet, object.find("limits"), lab.limits);
  object.need("allow", lab.allow, R"(["process_kill"], the injectors that may be used here)");
  object.may("embedded", lab.embedded);
  object.may("allow_foreign", lab.allow_foreign);
  object.may("allow_without_boot_sweep", lab.allow_without_boot_sweep);
  return lab;
}

}  // namespace unplug::scenario
