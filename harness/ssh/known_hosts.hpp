// What a known_hosts file says of one host. Pure, and our own: libssh2's reader finds no names of
// one or two letters and no wildcards, takes "!host" literally and ignores @revoked.
//
// @cert-authority lines are passed over: libssh2 knows no host certificates.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace unplug::ssh {

struct KnownKey {
  std::string type;
  std::string blob;
  int line = 0;
};

struct KnownKeys {
  std::vector<KnownKey> good, revoked;
};

// "host", or "[host]:port" when the port is not 22.
std::string host_entry(std::string_view host, int port);

// Lines for [host]:port; when there is none, those for the plain host, as OpenSSH does.
KnownKeys known_keys(std::string_view text, std::string_view host, int port);

}  // namespace unplug::ssh
