// What this machine must have before a lab can be built. Every lack is named with its mend.
#pragma once

#include <string>

namespace unplug::embedded {

// Where programs are looked for: the user's PATH, then where sshd, ip and nft are kept, which
// an ordinary user's PATH often lacks.
std::string search_path();

// The full path of a program on search_path(), or "".
std::string find_program(const std::string& name);

// Throws Error(kInconclusive) that lists everything that is missing at once.
void require_preconditions();

// Whether sshfs can work: /dev/fuse opens for reading and writing.
bool fuse_opens();

}  // namespace unplug::embedded
