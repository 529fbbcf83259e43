// The lab: nodes, the links between them, and what may be done to them (lab.json).
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/units.hpp"

namespace unplug::scenario {

enum class Platform { kLinux, kDarwin };
std::string to_text(Platform platform);  // "linux", "darwin"

// How a command becomes root on a node.
enum class Root { kNone, kSudo, kAlready };

// Which SSH is used: what the engine chooses, libssh2, or the `ssh` program.
enum class SshBy { kAuto, kLibssh2, kProgram };

// What is empty here is as the user's OpenSSH configuration says.
struct LabNode {
  std::string name;
  Platform platform = Platform::kLinux;
  std::string address;  // of the control path; may be a Host of the OpenSSH configuration
  std::optional<int> port;
  std::string user;
  std::string identity;    // private key file, "~" expanded
  std::string host_key;    // "SHA256:..." pin; empty = known_hosts decides
  std::string ssh_config;  // path of the OpenSSH configuration; empty = the user's own
  SshBy ssh_by = SshBy::kAuto;
  Root root = Root::kNone;
  std::string scratch;  // the bounded volume of tests; "" = none
};

struct LinkEnd {
  std::string node;
  std::string interface;
  std::string address;  // with prefix length: "10.78.0.1/30"; may be empty
};

struct Link {
  std::string name;
  std::string kind;  // thunderbolt, ethernet, ...
  LinkEnd near, far;
};

struct LabLimits {
  Duration longest_fault = std::chrono::minutes{2};
  Duration fault_lease = std::chrono::seconds{15};
  Duration margin = std::chrono::seconds{5};
  Bytes disk_floor = 0;
  Bytes memory_floor = 0;
};

struct Lab {
  std::string name;
  std::string controller = "separate";  // or the name of a node
  std::string known_hosts;              // path; empty = as OpenSSH is configured
  std::vector<LabNode> nodes;
  std::vector<Link> links;
  LabLimits limits;
  std::vector<std::string> allow;  // injectors that may be used here
  bool embedded = false;           // written by `unplug lab` only
  bool allow_foreign = false;
  bool allow_without_boot_sweep = false;

  const LabNode* node(const std::string& name) const;
};

}  // namespace unplug::scenario
