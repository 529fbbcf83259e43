// Which parts of the host's temporary folders stay visible in a lab. Pure.
//
// A lab has its own empty /tmp, /run and /mnt. But the program, the source tree, the current
// directory or a scenario may lie there, and must be found inside at the same path.
#pragma once

#include <set>
#include <string>
#include <vector>

namespace unplug::embedded {

inline const std::vector<std::string> kHidden = {"/tmp", "/run", "/mnt"};

// Whether `path` is `folder` or below it.
bool is_below(const std::string& path, const std::string& folder);

// The entries of `folder` that a text names: "cat '/tmp/a/b' /tmp/c" has /tmp/a and /tmp/c.
std::set<std::string> mentioned(const std::string& text, const std::string& folder);

// Without those that lie below another one, parents first.
std::vector<std::string> outermost(const std::set<std::string>& paths);

}  // namespace unplug::embedded
