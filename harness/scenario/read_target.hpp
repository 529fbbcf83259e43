// The parts of the target's reader; read_target.cpp calls them in this order.
#pragma once

#include <string>
#include <vector>

#include "scenario/read.hpp"

namespace unplug::scenario {

// A target while it is being read, and what its parts say of each other.
struct TargetSheet {
  Sheet& sheet;
  Target target;

  // A place's name, or "all" where that may stand.
  void place(const Value* value, std::string& into, bool all_too);
  // A whole path, of a log when `logs_too`.
  void path(const Value* value, std::string& into, bool logs_too);
  void log_name(const Value* value, std::string& into);
  void folder_name(const Value* value, const char* key, std::string& into);
  // "FOLDER:REST" in a list.
  void in_folders(const Value* list, const char* key, std::vector<std::string>& into);
  // Each text of a list must be one of `names`.
  void all_known(const Value* list, const char* key, const char* kind,
                 const std::vector<std::string>& names, std::vector<std::string>& into);
};

// Calls `read(object, member)` for each member of a map of objects; all keys must be taken there.
template <class F>
void each(Sheet& sheet, const Value* map, const char* key, const char* shape, F read) {
  if (map == nullptr || !sheet.is_object(*map, key)) return;
  for (const Value::Member& member : map->members) {
    sheet.good_name(member.position, shape, member.key);
    Object object(sheet, member.value, shape);
    object.remarks();
    read(object, member);
  }
}

void read_processes(TargetSheet& sheet, const Value* map);
void read_launcher(TargetSheet& sheet, const Value* value);
void read_events(TargetSheet& sheet, const Value* map);
void read_items(TargetSheet& sheet, const Value* value);
void read_observers(TargetSheet& sheet, const Value* list);

}  // namespace unplug::scenario
