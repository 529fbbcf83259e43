#include "cli/bring_lab.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <set>

#include "embedded/lab.hpp"
#include "run/run_scenario.hpp"

namespace unplug::cli {
namespace {

namespace fs = std::filesystem;

fs::path cache_home() {
  if (const char* xdg = std::getenv("XDG_CACHE_HOME"); xdg != nullptr && *xdg != '\0') return xdg;
  const char* home = std::getenv("HOME");
  return fs::path(home ? home : "/tmp") / ".cache";
}

}  // namespace

std::string own_program(const std::vector<std::string>& argv) {
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  return error ? argv.front() : self.string();
}

scenario::Library library_of(const LookupOptions& lookup) {
  return {scenario::shipped_root(), lookup.injectors, lookup.targets};
}

std::optional<fs::path> lab_file(const LabOptions& options) {
  if (options.file) return options.file;
  const char* here = std::getenv("UNPLUG_LAB");
  if (here != nullptr && *here != '\0') return fs::path(here);
  return std::nullopt;
}

std::vector<std::string> writable_folders(const fs::path& out) {
  std::vector<std::string> folders = {fs::absolute(out).lexically_normal().string()};
  // Whoever has no home has no kept baselines, and a lab all the same.
  const fs::path cache = cache_home() / "unplug";
  std::error_code cannot;
  fs::create_directories(cache, cannot);
  if (!cannot) folders.push_back(cache.string());
  return folders;
}

int again_inside_lab(const std::vector<std::string>& argv, int nodes, const fs::path& out) {
  // Inside, HOME is the lab's own; the cache must stay the user's.
  setenv("XDG_CACHE_HOME", cache_home().c_str(), 1);
  setenv(run::kLabEndsWithUs, "yes", 1);
  embedded::Options options;
  options.nodes = nodes;
  options.command = argv;
  options.command.front() = own_program(argv);
  options.writable = writable_folders(out);
  return embedded::run_lab(options);
}

int nodes_needed(const std::vector<fs::path>& scenarios, const LabOptions& options,
                 const scenario::Library& library) {
  if (options.nodes > 0) return options.nodes;
  int most = 2;
  for (const fs::path& file : scenarios) {
    const auto loaded = scenario::load(file, std::nullopt, library);
    if (!loaded.bundle) continue;
    for (const auto& [place, positions] : loaded.bundle->scenario.place) {
      for (const int position : positions) most = std::max(most, position);
    }
  }
  return most;
}

std::string title_of(const scenario::Scenario& scenario) {
  return scenario.name + (scenario.asks.empty() ? "" : ": " + scenario.asks);
}

void print_problems(const std::vector<scenario::Problem>& problems) {
  std::set<std::string> said;  // two scenarios may share one bad target
  for (const auto& problem : problems) {
    if (said.insert(problem.text()).second) fmt::print(stderr, "{}\n", problem.text());
  }
}

}  // namespace unplug::cli
