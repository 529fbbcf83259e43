#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/suggest.hpp"
#include "base/units.hpp"
#include "cli/bring_lab.hpp"
#include "cli/commands.hpp"

namespace unplug::cli {
namespace {

namespace fs = std::filesystem;
using Found = std::map<std::string, fs::path>;

void print_head(const char* title) { fmt::print("{}\n", title); }
void print_row(const std::string& name, const std::string& about) {
  fmt::print("  {:<18} {}\n", name, about);
}

void list_injectors(const Found& found) {
  print_head("injectors");
  for (const auto& [name, file] : found) {
    std::vector<scenario::Problem> problems;
    const auto injector = scenario::load_injector(file, problems);
    print_row(name,
              injector ? injector->about : "cannot be read: unplug validate " + file.string());
  }
}

void list_targets(const Found& found) {
  print_head("targets");
  for (const auto& [name, file] : found) {
    std::vector<scenario::Problem> problems;
    const auto target = scenario::load_target(file, problems);
    print_row(name, target ? target->about : "cannot be read: unplug validate " + file.string());
  }
}

// As one would type it: relative when it lies below, else whole.
std::string from_here(const fs::path& file) {
  const std::string near = fs::proximate(file).string();
  return near.starts_with("..") ? file.string() : near;
}

void list_scenarios(const scenario::Library& library) {
  print_head("scenarios");
  std::vector<fs::path> files;
  std::error_code ignored;
  for (const auto& entry : fs::recursive_directory_iterator(library.root / "scenarios", ignored)) {
    const bool schema = entry.path().parent_path().filename() == "schema";
    if (entry.path().extension() == ".json" && !schema) files.push_back(entry.path());
  }
  std::ranges::sort(files);
  for (const fs::path& file : files) {
    const auto loaded = scenario::load(file, std::nullopt, library);
    fmt::print("  {}\n      {}\n", from_here(file),
               loaded.bundle ? loaded.bundle->scenario.asks : "cannot be read: unplug validate it");
  }
}

std::string about_check(const std::string& check) {
  if (check == "conservation") return "each work item in exactly one state; none lost or doubled";
  if (check == "timeout") return "the faults have the outcome that is named, within a time";
  if (check == "cleanup") return "no process, file, port or mount is left that was not there";
  if (check == "output") return "outputs equal those of the undisturbed run";
  if (check == "cancellation") return "work that is cancelled ends on every node, within a time";
  if (check == "restart_point") return "exactly one place to go on from, and it is used";
  if (check == "exclusive_claim") return "no work item is worked on by two at once";
  if (check == "refuses") return "a mismatch is refused with an error that names it";
  if (check == "honest_exit") return "the launcher's exit tells the truth about its ranks";
  if (check == "progress") return "after healing the target goes on, and as fast as before";
  if (check == "command") return "a command of yours on a node exits 0";
  return "";
}

void list_checks() {
  print_head("checks");
  for (const std::string& check : scenario::check_names()) print_row(check, about_check(check));
}

const fs::path& find_one(const Found& found, const std::string& kind, const std::string& name) {
  const auto at = found.find(name);
  if (at != found.end()) return at->second;
  std::vector<std::string> names;
  for (const auto& [known, file] : found) names.push_back(known);
  const auto near = nearest(name, names);
  throw Error(Exit::kUsage, "list", fmt::format("there is no {} \"{}\"", kind, name),
              near ? fmt::format("did you mean \"{}\"?", *near) : "see `unplug list`");
}

const char* undo_text(scenario::Undo undo) {
  switch (undo) {
    case scenario::Undo::kGuard:
      return "by its guard on the node";
    case scenario::Undo::kSelf:
      return "by itself";
    case scenario::Undo::kOperator:
      return "by the operator";
    case scenario::Undo::kNone:
      return "none: the fault is lasting";
  }
  return "";
}

void show_injector(const fs::path& file) {
  std::vector<scenario::Problem> problems;
  const auto injector = scenario::load_injector(file, problems);
  print_problems(problems);
  if (!injector) return;
  fmt::print("{}: {}\n\nparameters\n", injector->name, injector->about);
  for (const auto& param : injector->params) {
    print_row(param.name, param.type + (param.fallback ? ", default " + *param.fallback : ""));
  }
  fmt::print("roles\n");
  for (const auto& role : injector->roles) {
    const auto proof = injector->proof.find(role.name);
    print_row(role.name, fmt::format("at {}{}; proof: {}", role.at, role.acts ? ", acts" : "",
                                     proof == injector->proof.end() ? "-" : proof->second));
  }
  fmt::print("undo\n");
  print_row("", undo_text(injector->undo));
  fmt::print("platforms\n");
  for (const auto& [platform, needs] : injector->platforms) {
    std::string tools;
    for (const auto& tool : needs.tools) tools += (tools.empty() ? "" : ", ") + tool;
    print_row(
        scenario::to_text(platform),
        fmt::format("{}; needs {}; undo within {}{}", needs.root ? "root" : "no root",
                    tools.empty() ? "nothing" : tools, to_text(needs.undo_settle),
                    platform == scenario::Platform::kDarwin ? "; not verified on hardware" : ""));
  }
}

void show_target(const fs::path& file) {
  std::vector<scenario::Problem> problems;
  const auto target = scenario::load_target(file, problems);
  print_problems(problems);
  if (!target) return;
  fmt::print("{}: {}\n\nplaces\n", target->name, target->about);
  for (const auto& place : target->places) {
    print_row(place.name, fmt::format("{}{}", place.least, place.most ? "" : " or more"));
  }
  print_head("parameters");
  for (const auto& param : target->params) {
    print_row(param.name, param.type + (param.fallback ? ", default " + *param.fallback : ""));
  }
  print_head("verbs");
  for (const auto& verb : target->verbs) {
    print_row(verb.name, fmt::format("at {}, within {}", verb.place, to_text(verb.within)));
  }
  print_head("processes (for faults: \"NAME N\")");
  for (const auto& part : target->parts) print_row(part.name, "at " + part.place);
  print_head("events (for \"when\")");
  for (const auto& event : target->events) {
    std::string fields;
    for (const auto& [name, capture] : event.fields) fields += (fields.empty() ? "" : ", ") + name;
    print_row(event.name, fields);
  }
}

}  // namespace

Exit list(const ListCommand& command) {
  const scenario::Library library = library_of(command.lookup);
  const Found injectors = scenario::injectors_of(library, fs::current_path());
  const Found targets = scenario::targets_of(library, fs::current_path());
  if (command.what == "injectors" && !command.name.empty()) {
    show_injector(find_one(injectors, "injector", command.name));
    return Exit::kPass;
  }
  if (command.what == "targets" && !command.name.empty()) {
    show_target(find_one(targets, "target", command.name));
    return Exit::kPass;
  }
  const bool all = command.what == "all";
  if (all || command.what == "scenarios") list_scenarios(library);
  if (all || command.what == "targets") list_targets(targets);
  if (all || command.what == "injectors") list_injectors(injectors);
  if (all || command.what == "checks") list_checks();
  return Exit::kPass;
}

}  // namespace unplug::cli
