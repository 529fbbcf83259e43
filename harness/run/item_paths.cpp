#include "run/item_paths.hpp"

#include <fnmatch.h>

namespace unplug::run {

bool glob_matches(const std::string& pattern, const std::string& path) {
  return fnmatch(pattern.c_str(), path.c_str(), FNM_PATHNAME) == 0;
}

std::string with_item(std::string pattern, const std::string& item) {
  constexpr std::string_view kItem = "$ITEM";
  if (const auto at = pattern.find(kItem); at != std::string::npos) {
    pattern.replace(at, kItem.size(), item);
  }
  return pattern;
}

std::optional<std::string> in_folder_named(const std::string& text, const std::string& folder) {
  if (!text.starts_with(folder + ":")) return std::nullopt;
  return text.substr(folder.size() + 1);
}

bool is_output(const scenario::Items& items, const std::string& path) {
  for (const auto& [state, outputs] : items.outputs) {
    for (const scenario::OutputPaths& any : outputs) {
      for (const auto& output : any) {
        if (glob_matches(with_item(output, "*"), path)) return true;
      }
    }
  }
  return false;
}

std::vector<std::string> item_globs(const scenario::Items& items) {
  std::vector<std::string> globs;
  for (const auto& state : items.states) globs.push_back(state.glob);
  for (const auto& [state, outputs] : items.outputs) {
    for (const scenario::OutputPaths& any : outputs) {
      for (const auto& output : any) globs.push_back(with_item(output, "*"));
    }
  }
  for (const auto& partial : items.partial) {
    if (const auto own = in_folder_named(partial, items.folder)) globs.push_back(*own);
  }
  return globs;
}

}  // namespace unplug::run
