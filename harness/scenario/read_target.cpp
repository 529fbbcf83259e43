#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "scenario/read_target.hpp"

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

class TargetReader {
 public:
  TargetReader(Sheet& sheet, const Value& root) : sheet_(sheet), root_(root), parts_{sheet, {}} {}

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
    logs(object.find("logs"));
    read_processes(parts_, object.find("processes"));
    read_launcher(parts_, object.find("launcher"));
    read_events(parts_, object.find("events"));
    read_items(parts_, object.find("items"));
    read_observers(parts_, object.find("observers"));
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

  void folders(const Value* map) {
    each(sheet_, map, "folders", "folder", [&](Object& object, const Value::Member& member) {
      Folder& folder = target_.folders.emplace_back();
      folder.name = member.key;
      parts_.place(object.need("place", "\"worker\""), folder.place, false);
      parts_.path(object.need("path", "\"$SCRATCH/work\""), folder.path, false);
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
      parts_.place(object.need("place", "\"all\""), verb.place, true);
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

  void recover(const Value* list) {
    parts_.all_known(list, "recover", "verb", names_of(target_.verbs), target_.recover);
  }

  void logs(const Value* map) {
    each(sheet_, map, "logs", "log", [&](Object& object, const Value::Member& member) {
      Log& log = target_.logs.emplace_back();
      log.name = member.key;
      parts_.place(object.need("place", "\"worker\""), log.place, false);
      parts_.path(object.need("path", "\"$UNPLUG_LOGS/worker.log\""), log.path, true);
    });
  }

  void versions(const Value* map) {
    each(sheet_, map, "versions", "version", [&](Object& object, const Value::Member& member) {
      VersionProbe& version = target_.versions.emplace_back();
      version.of = member.key;
      parts_.place(object.need("place", "\"worker\""), version.place, true);
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
      parts_.place(object.need("place", "\"worker\""), model.place, true);
      parts_.path(object.need("path", "\"$SCRATCH/model/look.cube\""), model.path, false);
      object.need("manifest", model.manifest, "\"model.sha256\"");
    });
  }

  void keeps(const Value* list) { parts_.in_folders(list, "keeps", target_.keeps); }

  Sheet& sheet_;
  const Value& root_;
  TargetSheet parts_;
  Target& target_ = parts_.target;
};

}  // namespace

Target read_target(Sheet& sheet, const Value& root) { return TargetReader(sheet, root).read(); }

}  // namespace unplug::scenario
