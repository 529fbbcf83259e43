#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "base/suggest.hpp"
#include "scenario/read.hpp"

namespace unplug::scenario {
namespace {

// Words of selectors: "all worker", "any worker", "node 1".
const std::vector<std::string> kNotPlaces = {"all", "any", "node"};
// What every run asks of a target, whatever it is.
const std::vector<std::string> kNeededVerbs = {"deploy", "start", "ready", "stop"};

// "1", "2-4" or "1+".
bool parse_count(const std::string& text, TargetPlace& place) {
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, place.least);
  if (error != std::errc{} || place.least < 1) return false;
  place.most = place.least;
  if (stop == end) return true;
  if (*stop == '+') {
    place.most.reset();
    return stop + 1 == end;
  }
  int most = 0;
  const auto [last, bad] = std::from_chars(stop + 1, end, most);
  place.most = most;
  return *stop == '-' && bad == std::errc{} && last == end && most >= place.least;
}

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

class TargetReader {
 public:
  TargetReader(Sheet& sheet, const Value& root) : sheet_(sheet), root_(root) {}

  Target read() {
    Object object(sheet_, root_, "target");
    target_.about = object.file_remarks().about;
    const Value* name = object.need("target", "\"farm\"");
    if (name != nullptr && sheet_.read(*name, "target", target_.name)) {
      sheet_.good_name(name->position, "target", target_.name);
    }
    const Value* kind = object.need("kind", "\"farm\"");
    if (kind != nullptr) sheet_.read_word(*kind, "kind", {"farm", "sharded"}, target_.kind);
    places(object.need("places", R"({"worker": {"count": "1+"}})"));
    target_.params = read_params(sheet_, object.find("params"),
                                 {"text", "integer", "duration", "bytes", "boolean", "path"}, {});
    folders(object.find("folders"));
    script(object.need("script", "\"target.sh\""));
    verbs(object.need("verbs", R"({"start": {"place": "all", "within": "10s"}, ...})"));
    recover(object.find("recover"));
    parts(object.find("processes"));
    logs(object.find("logs"));
    events(object.find("events"));
    items(object.find("items"));
    observers(object.find("observers"));
    versions(object.find("versions"));
    models(object.find("models"));
    keeps(object.find("keeps"));
    return std::move(target_);
  }

 private:
  void places(const Value* map) {
    each(sheet_, map, "places", "place", [&](Object& object, const Value::Member& member) {
      TargetPlace place{member.key, 1, std::nullopt};
      sheet_.good_name(member.position, "place", member.key, kNotPlaces);
      const Value* count = object.need("count", "\"1+\"");
      std::string text;
      if (count != nullptr && sheet_.read(*count, "count", text) && !parse_count(text, place)) {
        sheet_.complain(*count, fmt::format("\"count\" cannot be \"{}\"", text),
                        R"(write how many: "1", "2-4" or "1+")");
      }
      target_.places.push_back(place);
    });
  }

  void place(const Value* value, std::string& into, bool all_too) {
    if (value == nullptr || !sheet_.read(*value, "place", into)) return;
    if (target_.place(into) != nullptr || (all_too && into == "all")) return;
    std::vector<std::string> names = names_of(target_.places);
    if (all_too) names.emplace_back("all");
    sheet_.unknown(value->position, "place", into, names);
  }

  void path(const Value* value, std::string& into, bool logs_too) {
    if (value == nullptr || !sheet_.read(*value, "path", into)) return;
    if (into.front() == '/' || into == "$SCRATCH" || into.starts_with("$SCRATCH/")) return;
    if (logs_too && into.starts_with("$UNPLUG_LOGS/")) return;
    sheet_.complain(
        *value, fmt::format("\"path\" is \"{}\", which is no whole path", into),
        logs_too ? "begin it with /, $SCRATCH/ or $UNPLUG_LOGS/" : "begin it with / or $SCRATCH/");
  }

  void folders(const Value* map) {
    each(sheet_, map, "folders", "folder", [&](Object& object, const Value::Member& member) {
      Folder& folder = target_.folders.emplace_back();
      folder.name = member.key;
      place(object.need("place", "\"worker\""), folder.place, false);
      path(object.need("path", "\"$SCRATCH/work\""), folder.path, false);
    });
  }

  void script(const Value* value) {
    if (value == nullptr || !sheet_.read(*value, "script", target_.script)) return;
    std::error_code error;
    if (!std::filesystem::exists(sheet_.folder() / target_.script, error)) {
      sheet_.complain(*value,
                      fmt::format("there is no file \"{}\" beside this one", target_.script),
                      "write the script that has the verbs as functions");
    }
  }

  void verbs(const Value* map) {
    each(sheet_, map, "verbs", "verb", [&](Object& object, const Value::Member& member) {
      Verb& verb = target_.verbs.emplace_back();
      verb.name = member.key;
      place(object.need("place", "\"all\""), verb.place, true);
      object.need("within", verb.within, "\"10s\"");
    });
    for (const std::string& name : kNeededVerbs) {
      if (map == nullptr || map->kind != Value::Kind::kObject || target_.verb(name) != nullptr) {
        continue;
      }
      sheet_.complain(
          *map, fmt::format("there is no verb \"{}\"", name),
          fmt::format("write \"{}\": {{\"place\": \"all\", \"within\": \"10s\"}}", name));
    }
  }

  // Each text of a list must be one of `names`.
  void all_known(const Value* list, const char* key, const char* kind,
                 const std::vector<std::string>& names, std::vector<std::string>& into) {
    if (list == nullptr || !sheet_.read(*list, key, into)) return;
    for (std::size_t i = 0; i < into.size(); ++i) {
      if (std::ranges::find(names, into[i]) != names.end()) continue;
      sheet_.unknown(list->items[i].position, kind, into[i], names);
    }
  }

  void recover(const Value* list) {
    all_known(list, "recover", "verb", names_of(target_.verbs), target_.recover);
  }

  void parts(const Value* map) {
    each(sheet_, map, "processes", "process", [&](Object& object, const Value::Member& member) {
      Part& part = target_.parts.emplace_back();
      part.name = member.key;
      place(object.need("place", "\"worker\""), part.place, false);
      const Value* found = object.need("found", "\"rank.sh\"");
      if (found != nullptr && found->kind == Value::Kind::kObject) {
        child(*found, part);
      } else if (found != nullptr) {
        std::string word;
        sheet_.read_word(*found, "found", {"rank.sh"}, word);
      }
    });
    if (map != nullptr && map->kind == Value::Kind::kObject) parents(*map);
  }

  void child(const Value& found, Part& part) {
    Object object(sheet_, found, "found");
    object.remarks();
    object.need("child_of", part.child_of, "\"worker\"");
    read_expression(sheet_, object.need("command", "\"^ffmpeg \""), "command", part.command);
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

  void logs(const Value* map) {
    each(sheet_, map, "logs", "log", [&](Object& object, const Value::Member& member) {
      Log& log = target_.logs.emplace_back();
      log.name = member.key;
      place(object.need("place", "\"worker\""), log.place, false);
      path(object.need("path", "\"$UNPLUG_LOGS/worker.log\""), log.path, true);
    });
  }

  void log_name(const Value* value, std::string& into) {
    if (value == nullptr || !sheet_.read(*value, "log", into)) return;
    if (target_.log(into) == nullptr) {
      sheet_.unknown(value->position, "log", into, names_of(target_.logs));
    }
  }

  void events(const Value* map) {
    each(sheet_, map, "events", "event", [&](Object& object, const Value::Member& member) {
      EventPattern& event = target_.events.emplace_back();
      event.name = member.key;
      log_name(object.need("log", "\"worker\""), event.log);
      const auto groups = read_expression(sheet_, object.need("match", R"("^step ([0-9]+)$")"),
                                          "match", event.match);
      read_captures(sheet_, object.find("fields"), groups, event.fields);
      work(object, event);
      const Value* progress = object.find("progress");
      if (progress == nullptr || !sheet_.read(*progress, "progress", event.progress)) return;
      if (!event.fields.contains(event.progress)) {
        sheet_.unknown(progress->position, "field", event.progress, field_names(event));
      }
    });
  }

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

  static std::vector<std::string> field_names(const EventPattern& event) {
    std::vector<std::string> names;
    for (const auto& [name, capture] : event.fields) names.push_back(name);
    return names;
  }

  void folder_name(const Value* value, const char* key, std::string& into) {
    if (value == nullptr || !sheet_.read(*value, key, into)) return;
    if (target_.folder(into) == nullptr) {
      sheet_.unknown(value->position, "folder", into, names_of(target_.folders));
    }
  }

  // "FOLDER:REST" in a list.
  void in_folders(const Value* list, const char* key, std::vector<std::string>& into) {
    if (list == nullptr || !sheet_.read(*list, key, into)) return;
    for (std::size_t i = 0; i < into.size(); ++i) {
      const std::size_t colon = into[i].find(':');
      const std::string folder = into[i].substr(0, colon);
      if (colon == std::string::npos) {
        sheet_.complain(list->items[i], fmt::format("\"{}\" names no folder", into[i]),
                        "write FOLDER:PATH, such as \"work:*\"");
      } else if (target_.folder(folder) == nullptr) {
        sheet_.unknown(list->items[i].position, "folder", folder, names_of(target_.folders));
      }
    }
  }

  void items(const Value* value) {
    if (value == nullptr) return;
    Items& items = target_.items.emplace();
    Object object(sheet_, *value, "items");
    object.remarks();
    folder_name(object.need("folder", "\"share\""), "folder", items.folder);
    states(object.need("states", R"({"queued": "queue/*.job"})"), items);
    const auto groups =
        read_expression(sheet_, object.need("match", R"("([^/]+)[.]job$")"), "match", items.match);
    const Value* fields = object.need("fields", R"({"item": 1})");
    read_captures(sheet_, fields, groups, items.fields);
    if (fields != nullptr) item_fields(*fields);
    outputs(object.find("outputs"), items);
    in_folders(object.find("partial"), "partial", items.partial);
    all_known(object.need("terminal", R"(["done"])"), "terminal", "state", names_of(items.states),
              items.terminal);
  }

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
      sheet_.read(member.value, member.key, items.outputs[member.key]);
    }
  }

  void observers(const Value* list) {
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
           [&](const Value* log) { log_name(log, observer.log); });
    wanted(object, observer, "folder", observer.kind == "files",
           [&](const Value* folder) { folder_name(folder, "folder", observer.folder); });
    wanted(object, observer, "place", observer.kind == "processes",
           [&](const Value* where) { place(where, observer.place, true); });
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

  void versions(const Value* map) {
    each(sheet_, map, "versions", "version", [&](Object& object, const Value::Member& member) {
      VersionProbe& version = target_.versions.emplace_back();
      version.of = member.key;
      place(object.need("place", "\"worker\""), version.place, true);
      object.need("run", version.run, "\"ffmpeg -version\"");
      const Value* match = object.need("match", "\"version ([^ ]+)\"");
      const auto groups = read_expression(sheet_, match, "match", version.match);
      if (groups == 0) {
        sheet_.complain(*match, "\"match\" captures nothing", "put the version in ( )");
      }
    });
  }

  void models(const Value* map) {
    each(sheet_, map, "models", "model", [&](Object& object, const Value::Member& member) {
      Model& model = target_.models.emplace_back();
      model.name = member.key;
      place(object.need("place", "\"worker\""), model.place, true);
      path(object.need("path", "\"$SCRATCH/model/look.cube\""), model.path, false);
      object.need("manifest", model.manifest, "\"model.sha256\"");
    });
  }

  void keeps(const Value* list) { in_folders(list, "keeps", target_.keeps); }

  Sheet& sheet_;
  const Value& root_;
  Target target_;
};

}  // namespace

Target read_target(Sheet& sheet, const Value& root) { return TargetReader(sheet, root).read(); }

}  // namespace unplug::scenario
