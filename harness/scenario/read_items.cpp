// The work items of a farm: files whose place says their state.
#include <fmt/format.h>

#include <algorithm>

#include "base/suggest.hpp"
#include "scenario/read_target.hpp"

namespace unplug::scenario {
namespace {

class ItemReader {
 public:
  explicit ItemReader(TargetSheet& parts)
      : parts_(parts), sheet_(parts.sheet), target_(parts.target) {}

  void read(const Value* value) {
    if (value == nullptr) return;
    Items& items = target_.items.emplace();
    Object object(sheet_, *value, "items");
    object.remarks();
    parts_.folder_name(object.need("folder", "\"share\""), "folder", items.folder);
    states(object.need("states", R"({"queued": "queue/*.job"})"), items);
    const auto groups =
        read_expression(sheet_, object.need("match", R"("([^/]+)[.]job$")"), "match", items.match);
    const Value* fields = object.need("fields", R"({"item": 1})");
    read_captures(sheet_, fields, groups, items.fields);
    if (fields != nullptr) item_fields(*fields);
    outputs(object.find("outputs"), items);
    parts_.in_folders(object.find("partial"), "partial", items.partial);
    parts_.all_known(object.need("terminal", R"(["done"])"), "terminal", "state",
                     names_of(items.states), items.terminal);
    cancelled(object.find("cancelled"), items);
  }

 private:
  void states(const Value* map, Items& items) {
    if (map == nullptr || !sheet_.is_object(*map, "states")) return;
    for (const Value::Member& member : map->members) {
      ItemState& state = items.states.emplace_back();
      state.name = member.key;
      sheet_.good_name(member.position, "state", member.key);
      sheet_.read(member.value, member.key, state.glob);
    }
  }

  void item_fields(const Value& fields) {
    const std::vector<std::string> known = {"item", "node", "pid", "token"};
    for (const Value::Member& member : fields.members) {
      if (std::ranges::find(known, member.key) == known.end()) {
        sheet_.unknown(member.position, "field of an item", member.key, known);
      }
    }
    const auto meant = [](const Value::Member& member) {
      return nearest(member.key, {"item"}).has_value();
    };
    if (fields.kind == Value::Kind::kObject && std::ranges::none_of(fields.members, meant)) {
      sheet_.complain(fields, "no capture says which item it is", R"(write "item": 1)");
    }
  }

  void outputs(const Value* map, Items& items) {
    if (map == nullptr || !sheet_.is_object(*map, "outputs")) return;
    const std::vector<std::string> states = names_of(items.states);
    for (const Value::Member& member : map->members) {
      if (std::ranges::find(states, member.key) == states.end()) {
        sheet_.unknown(member.position, "state", member.key, states);
      }
      std::vector<OutputPaths>& paths = items.outputs[member.key];
      if (!sheet_.is_list(member.value, member.key)) continue;
      for (const Value& output : member.value.items) one_output(output, paths.emplace_back());
    }
  }

  // A path, or {"any": [paths]}: an item has one of them.
  void one_output(const Value& value, OutputPaths& paths) {
    if (value.kind == Value::Kind::kObject) {
      Object object(sheet_, value, "output");
      object.remarks();
      object.need("any", paths, R"(["done/$ITEM.mp4", "done/$ITEM.png"])");
    } else {
      sheet_.read(value, "outputs", paths.emplace_back());
    }
  }

  void cancelled(const Value* value, Items& items) {
    if (value == nullptr || !sheet_.read(*value, "cancelled", items.cancelled)) return;
    const std::vector<std::string> states = names_of(items.states);
    const auto known = [&](const std::string& state) {
      return std::ranges::find(states, state) != states.end();
    };
    if (!known(items.cancelled)) {
      sheet_.unknown(value->position, "state", items.cancelled, states);
    } else if (std::ranges::all_of(items.terminal, known) &&
               std::ranges::find(items.terminal, items.cancelled) == items.terminal.end()) {
      sheet_.complain(*value, fmt::format("state \"{}\" is not terminal", items.cancelled),
                      "a cancelled item is at rest: add it to \"terminal\"");
    }
  }

  TargetSheet& parts_;
  Sheet& sheet_;
  Target& target_;
};

}  // namespace

void read_items(TargetSheet& parts, const Value* value) { ItemReader(parts).read(value); }

}  // namespace unplug::scenario
