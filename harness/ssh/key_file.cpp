#include "ssh/key_file.hpp"

#include <algorithm>

#include "ssh/blob.hpp"

namespace unplug::ssh {
namespace {

using Type = KeyFile::Type;

Type type_named(std::string_view name) {
  if (name == "ssh-ed25519") return Type::kEd25519;
  if (name.starts_with("ecdsa-")) return Type::kEcdsa;
  if (name == "ssh-rsa") return Type::kRsa;
  if (name.starts_with("sk-")) return Type::kHardware;
  return Type::kOther;
}

// PROTOCOL.key of OpenSSH: magic, cipher, kdf, kdf options, number of keys, public key, ...
KeyFile describe_openssh(std::string_view text) {
  constexpr std::string_view kBegin = "-----BEGIN OPENSSH PRIVATE KEY-----";
  constexpr std::string_view kMagic{"openssh-key-v1\0", 15};
  text.remove_prefix(text.find(kBegin) + kBegin.size());
  std::string base64(text.substr(0, text.find("-----END")));
  std::erase_if(base64, [](char c) { return c == '\n' || c == '\r' || c == ' '; });
  const std::string raw = from_base64(base64);
  std::string_view rest = raw;
  if (!rest.starts_with(kMagic)) return {};
  rest.remove_prefix(kMagic.size());
  const auto cipher = take_string(rest), kdf = take_string(rest), options = take_string(rest);
  if (!cipher || !kdf || !options || rest.size() < 4) return {};
  rest.remove_prefix(4);
  return {type_named(first_string(take_string(rest).value_or(""))), *cipher != "none"};
}

}  // namespace

KeyFile describe_key(std::string_view text) {
  const auto has = [text](std::string_view words) {
    return text.find(words) != std::string_view::npos;
  };
  if (has("-----BEGIN OPENSSH PRIVATE KEY-----")) return describe_openssh(text);
  const bool encrypted = has("Proc-Type: 4,ENCRYPTED");
  if (has("-----BEGIN RSA PRIVATE KEY-----")) return {Type::kRsa, encrypted};
  if (has("-----BEGIN EC PRIVATE KEY-----")) return {Type::kEcdsa, encrypted};
  if (has("-----BEGIN ENCRYPTED PRIVATE KEY-----")) return {Type::kOther, true};
  if (has("PRIVATE KEY-----")) return {Type::kOther, encrypted};
  return {};
}

}  // namespace unplug::ssh
