#include <fmt/format.h>

#include <algorithm>

#include "base/suggest.hpp"
#include "scenario/read_scenario.hpp"

namespace unplug::scenario {
namespace {

class TriggerReader {
 public:
  TriggerReader(Sheet& sheet, Object& object, const Context& context, const Scenario& scenario,
                Fault& fault)
      : sheet_(sheet), object_(object), context_(context), scenario_(scenario), fault_(fault) {}

  void read() {
    const std::vector<std::string> keys = {"at",      "when",   "after", "with",
                                           "between", "before", "during"};
    std::vector<std::string> found;
    const Value* last = nullptr;
    for (const std::string& key : keys) {
      const Value* value = object_.find(key);
      if (value == nullptr) continue;
      found.push_back(key);
      last = value;
      one(key, *value);
    }
    plus(found);
    if (found.empty()) {
      sheet_.complain(object_.position(), "this fault has no trigger",
                      R"(write "at": "5s", or one of )" + listed({keys.begin() + 1, keys.end()}));
    } else if (found.size() > 1) {
      sheet_.complain(*last,
                      fmt::format("this fault has {} triggers: {}", found.size(), listed(found)),
                      "keep one");
    }
  }

 private:
  void one(const std::string& key, const Value& value) {
    if (key == "at") at(value);
    if (key == "when") when(value);
    if (key == "between") between(value);
    if (key == "before") fixed(value, "before", "start", BeforeStart{});
    if (key == "during") fixed(value, "during", "recover", DuringRecover{});
    if (key == "after") {
      After after;
      if (sheet_.read(value, "after", after.fault)) fault_.trigger = after;
    }
    if (key == "with") {
      With with;
      if (sheet_.read(value, "with", with.fault)) fault_.trigger = with;
    }
  }

  void at(const Value& value) {
    At at;
    if (!sheet_.read(value, "at", at.time)) return;
    in_time(value, at.time);
    fault_.trigger = at;
  }

  void in_time(const Value& value, Duration time) {
    if (time < scenario_.run_limit) return;
    sheet_.complain(value,
                    fmt::format("{} is never reached: the run ends at {}", to_text(time),
                                to_text(scenario_.run_limit)),
                    "fire earlier, or raise \"run\" in \"limits\"");
  }

  void between(const Value& value) {
    if (!sheet_.is_list(value, "between")) return;
    if (value.items.size() != 2) {
      sheet_.complain(value, fmt::format("\"between\" has {} times", value.items.size()),
                      R"(write two, such as ["5s", "30s"])");
      return;
    }
    Between between;
    if (!sheet_.read(value.items[0], "between", between.earliest) ||
        !sheet_.read(value.items[1], "between", between.latest)) {
      return;
    }
    if (between.earliest >= between.latest) {
      sheet_.complain(value, "the first time of \"between\" is not before the second",
                      "write the earlier one first");
    }
    in_time(value.items[1], between.latest);
    fault_.trigger = between;
  }

  void fixed(const Value& value, const char* key, const char* word, const Trigger& trigger) {
    std::string text;
    if (sheet_.read_word(value, key, {word}, text)) fault_.trigger = trigger;
  }

  void plus(const std::vector<std::string>& found) {
    const Value* value = object_.find("plus");
    Duration plus{};
    if (value == nullptr || !sheet_.read(*value, "plus", plus)) return;
    if (auto* after = std::get_if<After>(&fault_.trigger)) {
      after->plus = plus;
    } else if (auto* when = std::get_if<When>(&fault_.trigger)) {
      when->plus = plus;
    } else if (found.size() == 1 && found[0] != "when" && found[0] != "after") {
      sheet_.complain(*value, fmt::format("\"plus\" does not go with \"{}\"", found[0]),
                      R"(it goes with "after" and "when")");
    }
  }

  void when(const Value& value) {
    When when;
    Object object(sheet_, value, "when");
    const EventPattern* event = event_of(object, when);
    source(object, event, when);
    const Value* nth = object.find("nth");
    if (nth != nullptr && sheet_.read(*nth, "nth", when.nth) && when.nth < 1) {
      sheet_.complain(*nth, fmt::format("there is no match number {}", when.nth),
                      "matches count from 1");
    }
    object.may("plus", when.plus);
    for (const Value::Member* member : object.rest()) field(*member, event, when);
    fault_.trigger = std::move(when);
  }

  const EventPattern* event_of(Object& object, When& when) {
    const Value* name = object.need("event", "\"published\"");
    if (name == nullptr || !sheet_.read(*name, "event", when.event)) return nullptr;
    if (context_.target == nullptr) return nullptr;
    const EventPattern* event = context_.target->event(when.event);
    if (event == nullptr) {
      sheet_.unknown(name->position, "event", when.event, names_of(context_.target->events));
    }
    return event;
  }

  // "from": "worker 2", or "rank": 1.
  void source(Object& object, const EventPattern* event, When& when) {
    const Value* from = object.find("from");
    const Value* rank = object.find("rank");
    if (from != nullptr && rank != nullptr) {
      sheet_.complain(*rank, "\"from\" and \"rank\" both say where the event is from", "keep one");
      return;
    }
    if (from != nullptr) when.from = selector(*from);
    if (rank != nullptr) when.from = rank_selector(*rank);
    if (!when.from || event == nullptr) return;
    const Log* log = context_.target->log(event->log);
    if (log == nullptr || log->place == when.from->word) return;
    sheet_.complain(from != nullptr ? *from : *rank,
                    fmt::format("event \"{}\" is never from a {}", event->name, when.from->word),
                    fmt::format("it is read at each {}", log->place));
  }

  std::optional<Selector> selector(const Value& value) {
    auto read = read_selector(sheet_, value, "from", Subject::kPlace, context_, scenario_);
    if (read && read->pick == Selector::Pick::kAll) {
      sheet_.complain(value, "one event is not from all", "write \"any " + read->word + "\"");
      return std::nullopt;
    }
    return read;
  }

  std::optional<Selector> rank_selector(const Value& value) {
    int number = 0;
    if (!sheet_.read(value, "rank", number)) return std::nullopt;
    Value text = value;
    text.kind = Value::Kind::kString;
    text.text = "rank " + std::to_string(number);
    return read_selector(sheet_, text, "rank", Subject::kPlace, context_, scenario_);
  }

  void no_field(const Value::Member& member, const EventPattern& event) {
    std::vector<std::string> names;
    for (const auto& [name, capture] : event.fields) names.push_back(name);
    std::string mend = names.empty() ? "it has none" : "it has " + listed(names);
    for (const char* key : {"from", "rank", "nth", "plus"}) names.emplace_back(key);
    if (const auto near = nearest(member.key, names)) mend = "did you mean \"" + *near + "\"?";
    sheet_.complain(member.position,
                    fmt::format("event \"{}\" has no field \"{}\"", event.name, member.key),
                    std::move(mend));
  }

  void field(const Value::Member& member, const EventPattern* event, When& when) {
    if (event != nullptr && !event->fields.contains(member.key)) {
      no_field(member, *event);
      return;
    }
    if (member.value.kind == Value::Kind::kString) {
      when.fields[member.key] = member.value.text;
    } else {
      sheet_.read(member.value, member.key, when.numbers[member.key]);
    }
  }

  Sheet& sheet_;
  Object& object_;
  const Context& context_;
  const Scenario& scenario_;
  Fault& fault_;
};

}  // namespace

void read_trigger(Sheet& sheet, Object& object, const Context& context, const Scenario& scenario,
                  Fault& fault) {
  TriggerReader(sheet, object, context, scenario, fault).read();
}

}  // namespace unplug::scenario
