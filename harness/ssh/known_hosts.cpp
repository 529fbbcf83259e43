#include "ssh/known_hosts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <sstream>

#include "ssh/blob.hpp"

namespace unplug::ssh {
namespace {

// `*` and `?` as in OpenSSH's patterns.
bool matches(std::string_view pattern, std::string_view name) {
  if (pattern.empty()) return name.empty();
  if (pattern[0] == '*') {
    return matches(pattern.substr(1), name) || (!name.empty() && matches(pattern, name.substr(1)));
  }
  if (name.empty() || (pattern[0] != '?' && pattern[0] != name[0])) return false;
  return matches(pattern.substr(1), name.substr(1));
}

// "|1|salt|hash": HMAC-SHA1 of the name under the salt, so that the file tells no names.
bool matches_hashed(std::string_view field, std::string_view name) {
  const std::size_t bar = field.find('|', 3);
  if (bar == std::string_view::npos) return false;
  const std::string salt = from_base64(field.substr(3, bar - 3));
  return !salt.empty() && hmac_sha1(salt, name) == from_base64(field.substr(bar + 1));
}

bool names_match(std::string_view field, std::string_view name) {
  if (field.starts_with("|1|")) return matches_hashed(field, name);
  bool found = false;
  while (!field.empty()) {
    const std::size_t comma = std::min(field.find(','), field.size());
    std::string_view pattern = field.substr(0, comma);
    field.remove_prefix(std::min(comma + 1, field.size()));
    const bool negated = pattern.starts_with('!');
    if (negated) pattern.remove_prefix(1);
    if (!matches(pattern, name)) continue;
    if (negated) return false;
    found = true;
  }
  return found;
}

std::string lower(std::string_view text) {
  std::string name(text);
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return name;
}

KnownKeys keys_of(std::string_view text, const std::string& name) {
  KnownKeys keys;
  std::istringstream lines{std::string(text)};
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    std::istringstream words(line);
    std::string marker, names, type, blob;
    words >> names;
    if (names.starts_with('#')) continue;
    if (names.starts_with('@')) marker = names, names.clear(), words >> names;
    if (!(words >> type >> blob) || marker == "@cert-authority") continue;
    if (!names_match(names.starts_with('|') ? names : lower(names), name)) continue;
    KnownKey key{type, from_base64(blob), number};
    if (key.blob.empty()) continue;
    (marker == "@revoked" ? keys.revoked : keys.good).push_back(std::move(key));
  }
  return keys;
}

}  // namespace

std::string host_entry(std::string_view host, int port) {
  return port == 22 ? std::string(host) : fmt::format("[{}]:{}", host, port);
}

KnownKeys known_keys(std::string_view text, std::string_view host, int port) {
  const std::string name = lower(host);
  KnownKeys keys = keys_of(text, host_entry(name, port));
  if (port == 22 || !keys.good.empty()) return keys;
  KnownKeys plain = keys_of(text, name);
  keys.good = std::move(plain.good);
  keys.revoked.insert(keys.revoked.end(), plain.revoked.begin(), plain.revoked.end());
  return keys;
}

}  // namespace unplug::ssh
