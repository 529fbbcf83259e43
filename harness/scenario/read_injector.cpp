#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/suggest.hpp"
#include "scenario/read.hpp"

namespace unplug::scenario {
namespace {

const std::vector<std::string> kTypes = {"text",    "integer", "duration",  "bytes",
                                         "boolean", "signal",  "path",      "process",
                                         "node",    "link",    "interface", "model"};

// A parameter stands in a fault beside the fault's own keys, and in the script's environment
// beside unplug's own variables.
const std::vector<std::string> kNotParams = {
    "id",     "inject", "about",  "asks", "at",        "when",    "after", "with", "between",
    "before", "for",    "during", "plus", "tolerance", "skew",    "fault", "role", "root_by",
    "lease",  "hard",   "hold",   "seat", "root",      "scratch", "peers", "logs", "lab"};

class InjectorReader {
 public:
  InjectorReader(Sheet& sheet, const Value& root) : sheet_(sheet), root_(root) {}

  Injector read() {
    Object object(sheet_, root_, "injector");
    injector_.about = object.file_remarks().about;
    const Value* name = object.need("injector", "\"link_drop\"");
    if (name != nullptr && sheet_.read(*name, "injector", injector_.name)) {
      sheet_.good_name(name->position, "injector", injector_.name);
    }
    injector_.params = read_params(sheet_, object.find("params"), kTypes, kNotParams);
    roles(object.need("roles", R"({"victim": {"at": "process", "acts": true}})"));
    object.need("lasting", injector_.lasting, "false");
    undo(object.need("undo", "\"guard\""));
    cuts(object.need("cuts", "\"none\""));
    object.may("survives_reboot", injector_.survives_reboot);
    const Value* every = object.find("verify_every");
    if (every != nullptr && sheet_.read(*every, "verify_every", injector_.verify_every) &&
        injector_.verify_every <= Duration::zero()) {
      sheet_.complain(*every, "\"verify_every\" is no time at all", "write \"1s\"");
    }
    object.may("captures", injector_.captures);
    proof(object.need("proof", R"({"victim": "how the victim sees it"})"));
    platforms(object.need("platforms", R"({"linux": {"root": false}})"));
    return std::move(injector_);
  }

 private:
  std::vector<std::string> role_names() const { return names_of(injector_.roles); }

  void roles(const Value* map) {
    if (map == nullptr || !sheet_.is_object(*map, "roles")) return;
    for (const Value::Member& member : map->members) role(member);
    if (std::ranges::none_of(injector_.roles, &Role::acts)) {
      sheet_.complain(*map, "no role acts", R"(write "acts": true at the one that fires)");
    }
  }

  void role(const Value::Member& member) {
    Role& role = injector_.roles.emplace_back();
    role.name = member.key;
    sheet_.good_name(member.position, "role", role.name);
    Object object(sheet_, member.value, "role");
    object.remarks();
    object.may("acts", role.acts);
    const Value* at = object.need("at", "\"link.near\"");
    if (at == nullptr || !sheet_.read(*at, "at", role.at)) return;
    if (role.at == "controller" && role.acts) {
      sheet_.complain(*at, "a role at the controller cannot act: it heals the others",
                      "leave \"acts\" out, and let another role act");
    }
    const std::vector<std::string> spots = where_roles_are();
    const bool typed = std::ranges::none_of(injector_.params,
                                            [](const Param& param) { return param.type.empty(); });
    if (typed && std::ranges::find(spots, role.at) == spots.end()) {
      sheet_.unknown(at->position, "parameter or end", role.at, spots);
    }
  }

  std::vector<std::string> where_roles_are() const {
    std::vector<std::string> spots;
    for (const Param& param : injector_.params) {
      if (param.type == "process" || param.type == "node") spots.push_back(param.name);
      if (param.type == "link") {
        spots.push_back(param.name + ".near");
        spots.push_back(param.name + ".far");
      }
    }
    spots.emplace_back("controller");
    return spots;
  }

  void undo(const Value* value) {
    const std::vector<std::string> words = {"guard", "self", "operator", "none"};
    std::string word;
    if (value == nullptr || !sheet_.read_word(*value, "undo", words, word)) return;
    const auto at = std::ranges::find(words, word) - words.begin();
    injector_.undo = static_cast<Undo>(at);
    if (injector_.lasting && injector_.undo != Undo::kNone) {
      sheet_.complain(*value, "a lasting fault has nothing to undo", "write \"undo\": \"none\"");
    }
    if (!injector_.lasting && injector_.undo == Undo::kNone) {
      sheet_.complain(*value, "nobody undoes this fault",
                      "write \"undo\": \"guard\", or \"lasting\": true");
    }
  }

  void cuts(const Value* value) {
    const std::vector<std::string> words = {"none", "link", "control", "node"};
    std::string word;
    if (value == nullptr || !sheet_.read_word(*value, "cuts", words, word)) return;
    injector_.cuts = static_cast<Cuts>(std::ranges::find(words, word) - words.begin());
  }

  // role -> sentence; `whole`: every role needs one.
  void proof(const Value* map) {
    if (map == nullptr || !sheet_.is_object(*map, "proof")) return;
    for (const Value::Member& member : map->members) {
      role_known(member);
      sheet_.read(member.value, member.key, injector_.proof[member.key]);
    }
    std::vector<std::string> strange;
    for (const auto& [name, sentence] : injector_.proof) {
      if (std::ranges::find(injector_.roles, name, &Role::name) == injector_.roles.end()) {
        strange.push_back(name);
      }
    }
    for (const Role& role : injector_.roles) {
      if (injector_.proof.contains(role.name) || nearest(role.name, strange)) continue;
      sheet_.complain(*map, fmt::format("role \"{}\" has no proof", role.name),
                      fmt::format("write \"{}\": how it is seen from there", role.name));
    }
  }

  void role_known(const Value::Member& member) {
    const std::vector<std::string> names = role_names();
    if (std::ranges::find(names, member.key) == names.end()) {
      sheet_.unknown(member.position, "role", member.key, names);
    }
  }

  void platforms(const Value* map) {
    if (map == nullptr || !sheet_.is_object(*map, "platforms")) return;
    for (const Value::Member& member : map->members) {
      if (member.key != "linux" && member.key != "darwin") {
        sheet_.unknown(member.position, "platform", member.key, {"linux", "darwin"});
        continue;
      }
      platform(member);
      script(member);
    }
    if (map->members.empty()) sheet_.complain(*map, "no platform is named", "write \"linux\": {}");
  }

  void platform(const Value::Member& member) {
    const Platform which = member.key == "darwin" ? Platform::kDarwin : Platform::kLinux;
    PlatformNeeds& needs = injector_.platforms[which];
    Object object(sheet_, member.value, "platform");
    object.remarks();
    object.may("root", needs.root);
    object.may("needs", needs.tools);
    object.may("undo_settle", needs.undo_settle);
    object.may("says", needs.says);
    object.may("hardware", needs.hardware);
    for (const Value::Member* other : object.rest()) {
      role_known(*other);
      sheet_.read(other->value, other->key, needs.proof[other->key]);
    }
  }

  void script(const Value::Member& member) {
    const std::string name = member.key + ".sh";
    std::error_code error;
    if (std::filesystem::exists(sheet_.folder() / name, error)) return;
    sheet_.complain(member.position, fmt::format("there is no file \"{}\" beside this one", name),
                    "write the script, or leave the platform out");
  }

  Sheet& sheet_;
  const Value& root_;
  Injector injector_;
};

}  // namespace

Injector read_injector(Sheet& sheet, const Value& root) {
  return InjectorReader(sheet, root).read();
}

}  // namespace unplug::scenario
