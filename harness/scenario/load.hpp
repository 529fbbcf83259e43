// From files to models: a scenario with everything it names, or every problem at once.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "scenario/injector.hpp"
#include "scenario/lab.hpp"
#include "scenario/problem.hpp"
#include "scenario/scenario.hpp"
#include "scenario/target.hpp"

namespace unplug::scenario {

// Where names are looked up: --injectors / --targets, the scenario's own folder, then the
// shipped ones under `root` (see shipped_root).
struct Library {
  std::filesystem::path root;
  std::vector<std::filesystem::path> injectors;  // --injectors DIR
  std::vector<std::filesystem::path> targets;    // --targets DIR
};

// $UNPLUG_ROOT, else the source tree this was built from, else ../share/unplug of the program.
std::filesystem::path shipped_root();

// A scenario and all that it names, read and checked against each other.
struct Bundle {
  Scenario scenario;
  Target target;
  Lab lab;
  std::map<std::string, Injector> injectors;
  // The files, for copying into the run's folder and onto nodes.
  std::filesystem::path scenario_file, target_file, lab_file;
  std::map<std::string, std::filesystem::path> injector_files;  // injector.json of each
};

struct Loaded {
  std::optional<Bundle> bundle;  // only when there is no problem at all
  std::vector<Problem> problems;
};

// Reads the scenario and its lab. Without `lab_file` the lab is not read: what needs it is not
// checked and the bundle's lab is empty (`unplug validate SCENARIO`).
Loaded load(const std::filesystem::path& scenario_file,
            const std::optional<std::filesystem::path>& lab_file, const Library& library);

// A lab file alone (`unplug heal`).
struct LoadedLab {
  std::optional<Lab> lab;
  std::vector<Problem> problems;
};
LoadedLab load_lab(const std::filesystem::path& file);

// Any of the four kinds, told by its leading key (`unplug validate FILE...`).
std::vector<Problem> validate_file(const std::filesystem::path& file, const Library& library,
                                   const std::optional<std::filesystem::path>& lab_file);

// What can be named: (name, injector.json or target.json), first found wins.
std::map<std::string, std::filesystem::path> injectors_of(
    const Library& library, const std::filesystem::path& scenario_folder);
std::map<std::string, std::filesystem::path> targets_of(
    const Library& library, const std::filesystem::path& scenario_folder);

// One target or injector file, for `unplug list`. Problems go to `problems`.
std::optional<Target> load_target(const std::filesystem::path& file,
                                  std::vector<Problem>& problems);
std::optional<Injector> load_injector(const std::filesystem::path& file,
                                      std::vector<Problem>& problems);

}  // namespace unplug::scenario
