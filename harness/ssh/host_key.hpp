// Is the host that answers the host that was named? Strict: unknown and changed keys are refused.
#pragma once

#include <libssh2.h>

#include <string>
#include <vector>

#include "ssh/known_hosts.hpp"
#include "ssh/login.hpp"

namespace unplug::ssh {

struct HostKey {
  std::string type;  // "ssh-ed25519", ...; the first string of the blob
  std::string blob;  // as it goes over the wire
};

HostKey seen_host_key(LIBSSH2_SESSION* session);

// "SHA256:" and base64 without padding, as `ssh-keygen -l` prints it.
std::string fingerprint(const std::string& blob);

// Empty when it may be trusted, else what was expected, what was seen and what to do.
std::string check_host_key(const HostKey& seen, const Login& login, const KnownKeys& known);

// A list for libssh2's LIBSSH2_METHOD_HOSTKEY, of those in `supported`: the types that known_hosts
// has come first, since the check of any other type could only fail; then as OpenSSH prefers them.
std::string host_key_methods(const KnownKeys& known, const std::vector<std::string>& supported);

// What this libssh2 can. It must not be given others: 1.10 strips them by an overlapping memcpy.
std::vector<std::string> supported_host_keys(LIBSSH2_SESSION* session);

}  // namespace unplug::ssh
