// What lines of a target's logs mean.
#include <fmt/format.h>

#include <algorithm>

#include "scenario/read_target.hpp"

namespace unplug::scenario {
namespace {

class EventReader {
 public:
  explicit EventReader(TargetSheet& parts)
      : parts_(parts), sheet_(parts.sheet), target_(parts.target) {}

  void read(const Value* map) {
    each(sheet_, map, "events", "event", [&](Object& object, const Value::Member& member) {
      EventPattern& event = target_.events.emplace_back();
      event.name = member.key;
      parts_.log_name(object.need("log", "\"worker\""), event.log);
      const auto groups = read_expression(sheet_, object.need("match", R"("^step ([0-9]+)$")"),
                                          "match", event.match);
      read_captures(sheet_, object.find("fields"), groups, event.fields);
      work(object, event);
      field(object.find("progress"), "progress", event, event.progress);
      field(object.find("refuses"), "refuses", event, event.refuses);
    });
  }

 private:
  void work(Object& object, EventPattern& event) {
    const Value* value = object.find("work");
    const auto word = object.word(value, "work", {"begin", "end"});
    if (!word) return;
    event.work = *word == 0 ? Work::kBegin : Work::kEnd;
    if (!event.fields.contains("item")) {
      sheet_.complain(*value, fmt::format("event \"{}\" has no field \"item\"", event.name),
                      R"(write "fields": {"item": 1}: whose work begins or ends)");
    }
  }

  // The name of one of the event's own fields.
  void field(const Value* value, const char* key, const EventPattern& event, std::string& into) {
    if (value == nullptr || !sheet_.read(*value, key, into)) return;
    if (!event.fields.contains(into)) {
      sheet_.unknown(value->position, "field", into, field_names(event));
    }
  }

  static std::vector<std::string> field_names(const EventPattern& event) {
    std::vector<std::string> names;
    for (const auto& [name, capture] : event.fields) names.push_back(name);
    return names;
  }

  TargetSheet& parts_;
  Sheet& sheet_;
  Target& target_;
};

}  // namespace

void read_events(TargetSheet& parts, const Value* map) { EventReader(parts).read(map); }

}  // namespace unplug::scenario
