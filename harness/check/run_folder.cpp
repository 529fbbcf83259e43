#include "check/run_folder.hpp"

#include <map>

#include "base/error.hpp"
#include "check/healed.hpp"
#include "scenario/read.hpp"

namespace unplug::check {
namespace {

namespace fs = std::filesystem;
using scenario::Problem;

// What was run, as it was read when the run began.
struct Models {
  scenario::Scenario scenario;
  scenario::Target target;
  scenario::Lab lab;
  std::map<std::string, scenario::Injector> injectors;
};

[[noreturn]] void no_run(const fs::path& file, const std::vector<Problem>& problems) {
  throw Error(Exit::kUsage, file.string(),
              problems.empty() ? "cannot be read" : problems.front().text(),
              "give the folder of a run");
}

template <class Read>
auto read_file(const fs::path& file, std::vector<Problem>& problems, Read read) {
  const auto root = scenario::read_document(file, problems);
  if (!root) no_run(file, problems);
  scenario::Sheet sheet(file, problems);
  return read(sheet, *root);
}

// These files were checked when the run began, with the scripts beside them. Here they only say
// what was meant: the scripts are not in the run's folder, and that is no problem.
template <class Read>
auto read_checked(const fs::path& file, Read read) {
  std::vector<Problem> settled;
  return read_file(file, settled, read);
}

std::map<std::string, scenario::Injector> read_injectors(const fs::path& folder) {
  std::map<std::string, scenario::Injector> injectors;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(folder, none)) {
    const bool nested = entry.is_directory();
    const fs::path file = nested ? entry.path() / "injector.json" : entry.path();
    if (file.extension() != ".json" || !fs::exists(file)) continue;
    scenario::Injector injector = read_checked(file, scenario::read_injector);
    const std::string name = nested ? entry.path().filename().string() : file.stem().string();
    injectors[injector.name.empty() ? name : injector.name] = std::move(injector);
  }
  return injectors;
}

// The scenario must be understood whole: an expectation that is half read would judge nothing.
scenario::Scenario read_scenario(const fs::path& file, const Models& models) {
  scenario::Context context;
  context.target = &models.target;
  context.injectors = &models.injectors;
  context.known_targets = {models.target.name};
  for (const auto& [name, injector] : models.injectors) context.known_injectors.push_back(name);
  std::vector<Problem> problems;
  scenario::Scenario scenario =
      read_file(file, problems, [&](scenario::Sheet& sheet, const scenario::Value& root) {
        return scenario::read_scenario(sheet, root, context);
      });
  if (!problems.empty()) no_run(file, problems);
  return scenario;
}

Models read_models(const fs::path& folder) {
  Models models;
  models.target = read_checked(folder / "target.json", scenario::read_target);
  if (fs::exists(folder / "lab.json")) {
    models.lab = read_checked(folder / "lab.json", scenario::read_lab);
  }
  models.injectors = read_injectors(folder / "injectors");
  models.scenario = read_scenario(folder / "scenario.json", models);
  return models;
}

}  // namespace

Judged judge_folder(const fs::path& folder) {
  if (!fs::is_directory(folder)) {
    throw Error(Exit::kUsage, folder.string(), "no such folder", "give the folder of a run");
  }
  const Models models = read_models(folder);
  std::vector<std::string> nodes;
  for (const scenario::LabNode& node : models.lab.nodes) nodes.push_back(node.name);
  Case c;
  c.journal = journal::read(folder / "journal.jsonl");
  const fs::path baseline = folder / "baseline" / "journal.jsonl";
  if (fs::exists(baseline)) c.baseline = journal::read(baseline);
  c.healed = read_healed(folder / "healed", nodes);
  c.scenario = &models.scenario;
  c.target = &models.target;
  c.injectors = &models.injectors;
  Judged judged{judge(c), models.scenario, {}};
  judged.journal = std::move(c.journal);
  return judged;
}

}  // namespace unplug::check
