// Keys of a lab: made when it is built, in memory file systems only, gone with it.
#pragma once

#include <cstddef>
#include <string>

#include "embedded/inventory.hpp"

namespace unplug::embedded {

// Uses `folder` for ssh-keygen's files; all key pairs are made at the same time.
Keys make_keys(const std::string& folder, std::size_t hosts);

}  // namespace unplug::embedded
