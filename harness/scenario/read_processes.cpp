// What a target's processes are called, how they are found, and who tells how they ended.
#include <fmt/format.h>

#include <algorithm>

#include "scenario/read_target.hpp"

namespace unplug::scenario {
namespace {

class ProcessReader {
 public:
  explicit ProcessReader(TargetSheet& parts)
      : parts_(parts), sheet_(parts.sheet), target_(parts.target) {}

  void read(const Value* map) {
    each(sheet_, map, "processes", "process", [&](Object& object, const Value::Member& member) {
      Part& part = target_.parts.emplace_back();
      part.name = member.key;
      parts_.place(object.need("place", "\"worker\""), part.place, false);
      const Value* found = object.need("found", "\"rank.sh\"");
      if (found != nullptr && found->kind == Value::Kind::kObject) {
        child(*found, part);
      } else if (found != nullptr) {
        std::string word;
        sheet_.read_word(*found, "found", {"rank.sh"}, word);
      }
      exits(object.find("exits"), part);
    });
    if (map != nullptr && map->kind == Value::Kind::kObject) parents(*map);
  }

 private:
  void child(const Value& found, Part& part) {
    Object object(sheet_, found, "found");
    object.remarks();
    object.need("child_of", part.child_of, "\"worker\"");
    read_expression(sheet_, object.need("command", "\"^ffmpeg \""), "command", part.command);
  }

  // Who waits for a process writes how it ended; nobody else can know.
  void exits(const Value* value, Part& part) {
    if (value == nullptr) return;
    Object object(sheet_, *value, "exits");
    object.remarks();
    ExitLine& line = part.exits.emplace();
    parts_.log_name(object.need("log", "\"supervisor\""), line.log);
    const auto groups =
        read_expression(sheet_, object.need("match", R"("^worker ([0-9]+) exited ([0-9]+)$")"),
                        "match", line.match);
    const Value* fields = object.need("fields", R"({"pid": 1, "code": 2})");
    read_captures(sheet_, fields, groups, line.fields);
    if (fields != nullptr && fields->kind == Value::Kind::kObject) exit_fields(*fields);
  }

  void exit_fields(const Value& fields) {
    const std::vector<std::string> known = {"pid", "code"};
    for (const Value::Member& member : fields.members) {
      if (std::ranges::find(known, member.key) == known.end()) {
        sheet_.unknown(member.position, "field of an exit", member.key, known);
      }
    }
    for (const std::string& name : known) {
      if (fields.find(name) != nullptr) continue;
      sheet_.complain(fields, fmt::format("no capture is the {}", name),
                      fmt::format("write \"{}\": 1", name));
    }
  }

  void parents(const Value& map) {
    for (const Part& part : target_.parts) {
      if (part.child_of.empty()) continue;
      const Position here = map.find(part.name)->find("found")->find("child_of")->position;
      const Part* parent = target_.part(part.child_of);
      if (parent == nullptr) {
        sheet_.unknown(here, "process", part.child_of, names_of(target_.parts));
      } else if (!parent->child_of.empty()) {
        sheet_.complain(here,
                        fmt::format("process \"{}\" is itself found as a child", parent->name),
                        "name a process that rank.sh records");
      }
    }
  }

  TargetSheet& parts_;
  Sheet& sheet_;
  Target& target_;
};

}  // namespace

void read_launcher(TargetSheet& parts, const Value* value) {
  std::string& name = parts.target.launcher;
  if (value == nullptr || !parts.sheet.read(*value, "launcher", name)) return;
  if (parts.target.part(name) == nullptr) {
    parts.sheet.unknown(value->position, "process", name, names_of(parts.target.parts));
  }
}

void read_processes(TargetSheet& parts, const Value* map) { ProcessReader(parts).read(map); }

}  // namespace unplug::scenario
