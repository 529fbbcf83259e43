#include "ssh/host_key.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "ssh/blob.hpp"

namespace unplug::ssh {
namespace {

std::string types_of(const std::vector<KnownKey>& keys) {
  std::string types;
  for (const KnownKey& key : keys) {
    if (types.find(key.type) == std::string::npos) types += (types.empty() ? "" : ", ") + key.type;
  }
  return types;
}

std::string unknown(const HostKey& seen, const Login& login) {
  return fmt::format(
      "{} has no key in {}; it showed {} {}. Compare that with `ssh-keygen -lf "
      "/etc/ssh/ssh_host_ed25519_key.pub` on the host itself, then set it as host_key in the lab "
      "file, or run `ssh-keyscan -p {} {} >> {}`",
      host_entry(login.address, login.port), login.known_hosts, seen.type, fingerprint(seen.blob),
      login.port, login.address, login.known_hosts);
}

std::string changed(const HostKey& seen, const Login& login, const KnownKeys& known) {
  std::string expected;
  for (const KnownKey& key : known.good) {
    expected += fmt::format("{}{} {} (line {})", expected.empty() ? "" : ", ", key.type,
                            fingerprint(key.blob), key.line);
  }
  const bool same_type =
      std::any_of(known.good.begin(), known.good.end(),
                  [&seen](const KnownKey& key) { return key.type == seen.type; });
  return fmt::format(
      "another host may be answering at {}: {} has {}, but it showed {} {}. {}",
      host_entry(login.address, login.port), login.known_hosts, expected, seen.type,
      fingerprint(seen.blob),
      same_type
          ? fmt::format("If the host was reinstalled: `ssh-keygen -R '{}' -f {}`, then add its key",
                        host_entry(login.address, login.port), login.known_hosts)
          : fmt::format("The host shows no key of the known type ({}); add the one it has",
                        types_of(known.good)));
}

}  // namespace

HostKey seen_host_key(LIBSSH2_SESSION* session) {
  std::size_t size = 0;
  int type = 0;
  const char* blob = libssh2_session_hostkey(session, &size, &type);
  HostKey key;
  if (blob != nullptr) key.blob.assign(blob, size);
  key.type = first_string(key.blob);
  return key;
}

std::string fingerprint(const std::string& blob) { return "SHA256:" + sha256_base64(blob); }

std::string check_host_key(const HostKey& seen, const Login& login, const KnownKeys& known) {
  if (!login.host_key.empty()) {
    if (login.host_key == fingerprint(seen.blob)) return {};
    return fmt::format(
        "another host may be answering at {}:{}: the lab file pins {}, but it showed {} {}. If "
        "that is its key (`ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub` on the host "
        "itself), pin it",
        login.address, login.port, login.host_key, seen.type, fingerprint(seen.blob));
  }
  const auto is_seen = [&seen](const KnownKey& key) { return key.blob == seen.blob; };
  if (std::any_of(known.revoked.begin(), known.revoked.end(), is_seen)) {
    return fmt::format("{} showed {} {}, which {} marks as @revoked: do not use this host",
                       host_entry(login.address, login.port), seen.type, fingerprint(seen.blob),
                       login.known_hosts);
  }
  if (std::any_of(known.good.begin(), known.good.end(), is_seen)) return {};
  return known.good.empty() ? unknown(seen, login) : changed(seen, login, known);
}

std::string host_key_methods(const KnownKeys& known, const std::vector<std::string>& supported) {
  constexpr std::array kMethods = {"ssh-ed25519",
                                   "ecdsa-sha2-nistp256",
                                   "ecdsa-sha2-nistp384",
                                   "ecdsa-sha2-nistp521",
                                   "rsa-sha2-512",
                                   "rsa-sha2-256",
                                   "ssh-rsa"};
  std::string first, rest;
  for (const std::string method : kMethods) {
    if (std::find(supported.begin(), supported.end(), method) == supported.end()) continue;
    const std::string type = method.starts_with("rsa-sha2") ? "ssh-rsa" : method;
    const bool is_known = std::any_of(known.good.begin(), known.good.end(),
                                      [&type](const KnownKey& key) { return key.type == type; });
    std::string& list = is_known ? first : rest;
    list += (list.empty() ? "" : ",") + method;
  }
  return first.empty() || rest.empty() ? first + rest : first + "," + rest;
}

std::vector<std::string> supported_host_keys(LIBSSH2_SESSION* session) {
  const char** methods = nullptr;
  const int count = libssh2_session_supported_algs(session, LIBSSH2_METHOD_HOSTKEY, &methods);
  if (count <= 0) return {};
  std::vector<std::string> names(methods, methods + count);
  libssh2_free(session, methods);
  return names;
}

}  // namespace unplug::ssh
