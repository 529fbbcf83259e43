// What is watched during a run.
#include <fmt/format.h>

#include <algorithm>

#include "scenario/read_target.hpp"

namespace unplug::scenario {
namespace {

class ObserverReader {
 public:
  explicit ObserverReader(TargetSheet& parts)
      : parts_(parts), sheet_(parts.sheet), target_(parts.target) {}

  void read(const Value* list) {
    if (list == nullptr || !sheet_.is_list(*list, "observers")) return;
    for (const Value& value : list->items) {
      observer(value);
      const Observer& last = target_.observers.back();
      const auto same = std::ranges::count(target_.observers, last.id, &Observer::id);
      if (last.id.empty() || same < 2) continue;
      sheet_.complain(*value.find("id"), fmt::format("there are two observers \"{}\"", last.id),
                      "give each its own id");
    }
  }

 private:
  void observer(const Value& value) {
    Observer& observer = target_.observers.emplace_back();
    Object object(sheet_, value, "observer");
    object.remarks();
    const Value* id = object.need("id", "\"log\"");
    if (id != nullptr && sheet_.read(*id, "id", observer.id)) {
      sheet_.good_name(id->position, "observer", observer.id);
    }
    kind(object.need("kind", "\"log\""), observer);
    wanted(object, observer, "log", observer.kind == "log",
           [&](const Value* log) { parts_.log_name(log, observer.log); });
    wanted(object, observer, "folder", observer.kind == "files",
           [&](const Value* folder) { parts_.folder_name(folder, "folder", observer.folder); });
    wanted(object, observer, "place", observer.kind == "processes",
           [&](const Value* where) { parts_.place(where, observer.place, true); });
    wanted(object, observer, "every", observer.kind == "files" || observer.kind == "processes",
           [&](const Value* every) { sheet_.read(*every, "every", observer.every); });
  }

  void kind(const Value* value, Observer& observer) {
    if (value == nullptr || !sheet_.read(*value, "kind", observer.kind)) return;
    for (const char* later : {"tcp", "http", "script"}) {
      if (observer.kind != later) continue;
      sheet_.complain(*value, fmt::format("this build has no observer of kind \"{}\" yet", later),
                      "there are \"log\", \"files\" and \"processes\"");
      observer.kind.clear();
      return;
    }
    if (!sheet_.read_word(*value, "kind", {"log", "files", "processes"}, observer.kind)) {
      observer.kind.clear();
    }
  }

  // A key that belongs to some kinds of observer only.
  template <class F>
  void wanted(Object& object, const Observer& observer, const char* key, bool belongs, F read) {
    const Value* value = object.find(key);
    if (observer.kind.empty()) return;
    if (belongs && value == nullptr) {
      sheet_.complain(object.position(),
                      fmt::format("an observer of kind \"{}\" needs \"{}\"", observer.kind, key),
                      std::string(key) == "every" ? R"(write "every": "500ms")" : "name it");
    } else if (!belongs && value != nullptr) {
      sheet_.complain(*value,
                      fmt::format("an observer of kind \"{}\" has no \"{}\"", observer.kind, key),
                      "leave it out");
    } else if (value != nullptr) {
      read(value);
    }
  }

  TargetSheet& parts_;
  Sheet& sheet_;
  Target& target_;
};

}  // namespace

void read_observers(TargetSheet& parts, const Value* list) { ObserverReader(parts).read(list); }

}  // namespace unplug::scenario
