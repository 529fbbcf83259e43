// The files that describe a lab to its users: lab.json, known_hosts, ssh_config, hosts, passwd.
//
// Texts only: who writes them where is the business of controller.cpp and node.cpp.
#pragma once

#include <string>
#include <vector>

#include "embedded/blueprint.hpp"

namespace unplug::embedded {

// A key pair as ssh-keygen writes it.
struct Key {
  std::string secret;       // OpenSSH private key file
  std::string open;         // "ssh-ed25519 AAAA...", without a comment
  std::string fingerprint;  // "SHA256:..."
};

struct Keys {
  Key user;                // the controller's, and every node's own
  std::vector<Key> hosts;  // one per site, in the same order
};

// Where the files stand for the controller; all of it is a tmpfs of the lab.
inline constexpr char kLabFolder[] = "/run/unplug";
inline constexpr char kHome[] = "/run/unplug/home";

std::string lab_json(const Blueprint& lab, const Keys& keys);
std::string known_hosts(const Blueprint& lab, const Keys& keys);
std::string hosts_file(const Blueprint& lab);
std::string ssh_config();

// passwd, shadow and group with the three accounts that sshd needs; `home` and `shell` are root's.
std::string passwd_file(const std::string& home, const std::string& shell);
std::string shadow_file();
std::string group_file();

}  // namespace unplug::embedded
