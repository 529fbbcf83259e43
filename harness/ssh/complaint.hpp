// What the `ssh` program said when it could not log in, as one clear error. Pure.
#pragma once

#include <string>
#include <string_view>

#include "ssh/login.hpp"

namespace unplug::ssh {

// The first line, on stderr, of our check of a pinned host key: "unplug-saw TYPE FINGERPRINT".
inline constexpr std::string_view kSaw = "unplug-saw";

// `said` is all of its stderr; of several lines the one that explains most counts.
LoginResult complaint(std::string_view said, const Login& login);

}  // namespace unplug::ssh
