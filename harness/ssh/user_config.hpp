// What the user's own OpenSSH says of a host: `ssh -G HOST`, read. Pure.
//
// Only what decides how we get there; a path is as OpenSSH would open it ("~" is its user's home).
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace unplug::ssh {

struct UserConfig {
  std::string hostname;
  std::string user;
  int port = 22;
  std::vector<std::string> identities;    // private key files, in their order
  std::vector<std::string> certificates;  // of those keys
  std::string agent;                      // a socket; "none"; empty = SSH_AUTH_SOCK
  std::vector<std::string> known_hosts;   // the user's files
  std::vector<std::string> also_known;    // the system's
  std::string proxy_jump, proxy_command;
  std::string host_key_alias, known_hosts_command, pkcs11_provider;

  bool operator==(const UserConfig&) const = default;
};

// `home` is put for "~". Lines that mean nothing here are passed over.
UserConfig parse_user_config(std::string_view text, const std::string& home);

}  // namespace unplug::ssh
