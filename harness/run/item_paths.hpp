// The paths of a farm's items: what their states, outputs and unfinished files are called.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "scenario/target.hpp"

namespace unplug::run {

// A shell glob whose * crosses no folder.
bool glob_matches(const std::string& pattern, const std::string& path);

// "done/$ITEM.mp4" of an item; with "*" as the item, its glob.
std::string with_item(std::string pattern, const std::string& item);

// "share:done/*.part" -> the glob, when the folder is the given one.
std::optional<std::string> in_folder_named(const std::string& text, const std::string& folder);

// Whether a path in the items' folder is the output of some item.
bool is_output(const scenario::Items& items, const std::string& path);

// Everything in the items' folder that an observer must list.
std::vector<std::string> item_globs(const scenario::Items& items);

}  // namespace unplug::run
