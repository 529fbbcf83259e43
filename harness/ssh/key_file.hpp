// What can be told of a private key file without its passphrase.
#pragma once

#include <string>
#include <string_view>

namespace unplug::ssh {

struct KeyFile {
  enum class Type { kEd25519, kEcdsa, kRsa, kHardware, kOther, kNoKey };
  Type type = Type::kNoKey;
  bool encrypted = false;
};

KeyFile describe_key(std::string_view text);

}  // namespace unplug::ssh
