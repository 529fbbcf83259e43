// Baselines that are kept: ${XDG_CACHE_HOME:-~/.cache}/unplug/baseline/KEY, for seven days.
//
// Several runs may look and keep at once: an entry comes by rename, whole or not at all, and one that
// is still good is never replaced, so that whoever copies it copies one baseline.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "base/units.hpp"

namespace unplug::run {

// Copies the baseline KEY into the folder `into` and says how long it took; nullopt when none is
// kept, when it is too old, or when it cannot be read.
std::optional<Duration> baseline_from_cache(const std::string& key,
                                            const std::filesystem::path& into);

// A cache that cannot be written costs the next run its baseline, and nothing else.
void keep_baseline(const std::string& key, const std::filesystem::path& from, Duration took);

}  // namespace unplug::run
