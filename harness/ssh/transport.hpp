// Which SSH a node gets, and why: libssh2 unless the user's configuration asks for what it cannot
// do. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "scenario/lab.hpp"
#include "ssh/key_file.hpp"
#include "ssh/user_config.hpp"

namespace unplug::ssh {

enum class Transport { kLibssh2, kSsh };
std::string to_text(Transport transport);  // "libssh2", "ssh"

struct UserKey {
  std::string path;
  KeyFile file;
};

struct Choice {
  Transport transport = Transport::kLibssh2;
  std::string because;       // for people, without a full stop
  bool more_by_ssh = false;  // libssh2, but the user has keys that only ssh can use
};

// Can this libssh2 ("1.10.0") log in by such a key?
bool can_use(KeyFile::Type type, std::string_view libssh2_version);

// `keys`: those that exist, in the order in which they are tried.
Choice choose_transport(scenario::SshBy stated, const UserConfig& config,
                        const std::vector<UserKey>& keys, const std::string& libssh2_version);

}  // namespace unplug::ssh
