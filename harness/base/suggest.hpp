// "Did you mean ...?": the nearest of some names, or nothing when none is near.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace unplug {

// Nearest by edit distance (swaps count one), at most a third of the word's length away.
std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& names);

}  // namespace unplug
