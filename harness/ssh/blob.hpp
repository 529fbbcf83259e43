// Bytes as SSH writes them: length-prefixed strings, base64, digests. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace unplug::ssh {

// Takes one string (uint32 length, bytes) off the front; nullopt when it is not whole.
std::optional<std::string> take_string(std::string_view& blob);

// The first string of a public key blob: its type. Empty when there is none.
std::string first_string(std::string_view blob);

// Empty when it is not base64.
std::string from_base64(std::string_view text);

// SHA-256 in base64 without padding.
std::string sha256_base64(std::string_view bytes);

// HMAC-SHA1, raw: what hashed names in known_hosts are.
std::string hmac_sha1(const std::string& key, std::string_view bytes);

}  // namespace unplug::ssh
