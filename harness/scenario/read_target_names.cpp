// What the parts of a target name of each other: places, logs, folders, states.
#include <fmt/format.h>

#include <algorithm>

#include "scenario/read_target.hpp"

namespace unplug::scenario {

void TargetSheet::place(const Value* value, std::string& into, bool all_too) {
  if (value == nullptr || !sheet.read(*value, "place", into)) return;
  if (target.place(into) != nullptr || (all_too && into == "all")) return;
  std::vector<std::string> names = names_of(target.places);
  if (all_too) names.emplace_back("all");
  sheet.unknown(value->position, "place", into, names);
}

void TargetSheet::path(const Value* value, std::string& into, bool logs_too) {
  if (value == nullptr || !sheet.read(*value, "path", into)) return;
  if (into.front() == '/' || into == "$SCRATCH" || into.starts_with("$SCRATCH/")) return;
  if (logs_too && into.starts_with("$UNPLUG_LOGS/")) return;
  sheet.complain(
      *value, fmt::format("\"path\" is \"{}\", which is no whole path", into),
      logs_too ? "begin it with /, $SCRATCH/ or $UNPLUG_LOGS/" : "begin it with / or $SCRATCH/");
}

void TargetSheet::log_name(const Value* value, std::string& into) {
  if (value == nullptr || !sheet.read(*value, "log", into)) return;
  if (target.log(into) == nullptr) {
    sheet.unknown(value->position, "log", into, names_of(target.logs));
  }
}

void TargetSheet::folder_name(const Value* value, const char* key, std::string& into) {
  if (value == nullptr || !sheet.read(*value, key, into)) return;
  if (target.folder(into) == nullptr) {
    sheet.unknown(value->position, "folder", into, names_of(target.folders));
  }
}

void TargetSheet::in_folders(const Value* list, const char* key, std::vector<std::string>& into) {
  if (list == nullptr || !sheet.read(*list, key, into)) return;
  for (std::size_t i = 0; i < into.size(); ++i) {
    const std::size_t colon = into[i].find(':');
    const std::string folder = into[i].substr(0, colon);
    if (colon == std::string::npos) {
      sheet.complain(list->items[i], fmt::format("\"{}\" names no folder", into[i]),
                     "write FOLDER:PATH, such as \"work:*\"");
    } else if (target.folder(folder) == nullptr) {
      sheet.unknown(list->items[i].position, "folder", folder, names_of(target.folders));
    }
  }
}

void TargetSheet::all_known(const Value* list, const char* key, const char* kind,
                            const std::vector<std::string>& names, std::vector<std::string>& into) {
  if (list == nullptr || !sheet.read(*list, key, into)) return;
  for (std::size_t i = 0; i < into.size(); ++i) {
    if (std::ranges::find(names, into[i]) != names.end()) continue;
    sheet.unknown(list->items[i].position, kind, into[i], names);
  }
}

}  // namespace unplug::scenario
