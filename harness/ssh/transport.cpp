#include "ssh/transport.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

namespace unplug::ssh {
namespace {

// The first libssh2 that signs for RSA keys with SHA-2: servers refuse SHA-1.
bool signs_rsa(std::string_view version) {
  int major = 0, minor = 0;
  if (std::sscanf(std::string(version).c_str(), "%d.%d", &major, &minor) != 2) return false;
  return major > 1 || (major == 1 && minor >= 11);
}

// Tokens that `ssh -G` leaves as they are: %h, ${NAME}.
bool has_tokens(const std::string& path) {
  return path.find('%') != std::string::npos || path.find("${") != std::string::npos;
}

// What of the configuration only ssh can do; empty when there is nothing.
std::string asked_of_ssh(const UserConfig& config) {
  if (!config.proxy_jump.empty()) return "jump host " + config.proxy_jump;
  if (!config.proxy_command.empty()) return "ProxyCommand " + config.proxy_command;
  if (!config.host_key_alias.empty()) return "HostKeyAlias " + config.host_key_alias;
  if (!config.known_hosts_command.empty()) return "KnownHostsCommand " + config.known_hosts_command;
  if (!config.certificates.empty()) return "certificate " + config.certificates.front();
  if (!config.pkcs11_provider.empty()) return "key by PKCS11Provider " + config.pkcs11_provider;
  const auto odd = std::ranges::find_if(config.identities, has_tokens);
  if (odd != config.identities.end()) return "IdentityFile " + *odd;
  return {};
}

std::string cannot_use(const UserKey& key, const std::string& version) {
  if (key.file.type == KeyFile::Type::kHardware) {
    return fmt::format("key on hardware {}", key.path);
  }
  return fmt::format("RSA key {} with libssh2 {}", key.path, version);
}

}  // namespace

std::string to_text(Transport transport) {
  return transport == Transport::kSsh ? "ssh" : "libssh2";
}

bool can_use(KeyFile::Type type, std::string_view libssh2_version) {
  if (type == KeyFile::Type::kHardware) return false;
  return type != KeyFile::Type::kRsa || signs_rsa(libssh2_version);
}

Choice choose_transport(scenario::SshBy stated, const UserConfig& config,
                        const std::vector<UserKey>& keys, const std::string& libssh2_version) {
  if (stated == scenario::SshBy::kLibssh2) return {Transport::kLibssh2, "the lab file says so"};
  if (stated == scenario::SshBy::kProgram) return {Transport::kSsh, "the lab file says so"};
  if (const std::string asked = asked_of_ssh(config); !asked.empty()) {
    return {Transport::kSsh, asked};
  }
  const auto usable = [&](const UserKey& key) { return can_use(key.file.type, libssh2_version); };
  const auto cannot = std::ranges::find_if_not(keys, usable);
  if (cannot != keys.end() && std::ranges::none_of(keys, usable)) {
    return {Transport::kSsh, cannot_use(*cannot, libssh2_version)};
  }
  return {Transport::kLibssh2, "it can do all that is asked for", cannot != keys.end()};
}

}  // namespace unplug::ssh
