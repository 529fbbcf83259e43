// Files as one ustar stream (POSIX.1-1988), for `tar x` of any make. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "node/node.hpp"

namespace unplug::node {

// Why the files cannot be sent: an absolute path, "..", or one that ustar cannot hold (100
// bytes, or 155 + 100 split at a slash).
std::optional<std::string> unfit_for_ustar(const std::vector<File>& files);

// Two zero blocks at its end: a stream that is cut off has none.
std::string ustar(const std::vector<File>& files);

// Unpacks such a stream from stdin below `folder`, relative to $HOME: own files only, modes as
// given, folders 0700, times of now.
std::string unpack_command(const std::string& folder);

}  // namespace unplug::node
