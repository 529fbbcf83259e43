#include "run/run_scenario.hpp"

#include <fmt/format.h>

#include "base/shell.hpp"
#include "base/write_file.hpp"
#include "campaign/worst.hpp"
#include "check/run_folder.hpp"
#include "cli/bring_lab.hpp"
#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "reports/report.hpp"

namespace unplug::cli {
namespace {

namespace fs = std::filesystem;

std::string repeat_command(const RunCommand& command, const scenario::Bundle& bundle,
                           std::uint64_t seed) {
  std::string text = "unplug run " + shell_quoted(bundle.scenario_file.string());
  if (command.lab.file || !bundle.lab.embedded) {
    text += " --lab " + shell_quoted(bundle.lab_file.string());
  }
  for (const std::string& word : options_of(command)) text += " " + shell_quoted(word);
  return text + fmt::format(" --seed {}", seed);
}

Exit judge_and_report(const run::RunOutcome& outcome, const std::string& repeat) {
  const check::Judged judged = check::judge_folder(outcome.folder);
  // The journal is whole: what cannot be kept now can be had from it at any time.
  const std::string again =
      "make room there; `unplug report " + shell_quoted(outcome.folder.string()) + "` judges it";
  write_file(outcome.folder / "result.json", reports::result_json(judged).dump(2) + "\n", again);
  write_file(outcome.folder / "junit.xml", reports::junit(judged), again);
  fmt::print("\n{}",
             reports::terminal(judged, {stdout_is_terminal(), outcome.folder.string(), repeat}));
  return check::exit_of(judged.result.verdict);
}

Exit run_one(const RunCommand& command, const scenario::Bundle& bundle, bool& interrupted) {
  const std::uint64_t seed = command.seed.value_or(bundle.scenario.seed);
  const run::Plan plan = run::plan(bundle, seed);
  const auto wait = parse_duration(command.wait);
  if (!wait) {
    throw Error(Exit::kUsage, "--wait " + command.wait, "is no duration", "write for example 60s");
  }
  fmt::print("{}\n", title_of(bundle.scenario));
  fmt::print("lab {}{}, seed {}\n", bundle.lab.name, bundle.lab.embedded ? " (embedded)" : "",
             seed);
  run::RunOutcome outcome;
  {
    Console console;
    outcome = run::run_scenario(
        bundle, plan,
        {.out = command.out, .argv = command.argv, .patch = command.patch, .wait = *wait}, console);
  }
  interrupted = outcome.interrupted;
  for (const std::string& problem : outcome.refused) {
    fmt::print(stderr, "unplug: {}\n", printable(problem));
  }
  return judge_and_report(outcome, repeat_command(command, bundle, seed));
}

// All files are read before the first run: a bad one costs nobody an hour.
std::vector<scenario::Bundle> load_all(const RunCommand& command,
                                       const std::optional<fs::path>& lab) {
  std::vector<scenario::Bundle> bundles;
  std::vector<scenario::Problem> problems;
  for (const fs::path& file : command.scenarios) {
    scenario::Loaded loaded = scenario::load(file, lab, library_of(command.lookup));
    problems.insert(problems.end(), loaded.problems.begin(), loaded.problems.end());
    if (loaded.bundle) bundles.push_back(std::move(*loaded.bundle));
  }
  print_problems(problems);
  if (!problems.empty()) bundles.clear();
  return bundles;
}

}  // namespace

std::vector<std::string> options_of(const RunCommand& command) {
  std::vector<std::string> words;
  const auto add = [&words](const char* option, const std::string& value) {
    words.emplace_back(option);
    words.push_back(value);
  };
  if (!command.lab.file && command.lab.nodes > 0) {
    add("--nodes", std::to_string(command.lab.nodes));
  }
  for (const auto& folder : command.lookup.injectors) add("--injectors", folder.string());
  for (const auto& folder : command.lookup.targets) add("--targets", folder.string());
  if (command.patch) add("--patch", command.patch->string());
  return words;
}

Exit run(const RunCommand& command) {
  if (command.patch && !fs::is_regular_file(*command.patch)) {
    throw Error(Exit::kUsage, "--patch " + command.patch->string(), "there is no such file");
  }
  const auto lab = lab_file(command.lab);
  const std::vector<scenario::Bundle> bundles = load_all(command, lab);
  if (bundles.empty()) return Exit::kUsage;
  if (!lab && command.repeat * command.jobs > 1) return repeat(command);
  if (!lab) {
    const int nodes = nodes_needed(command.scenarios, command.lab, library_of(command.lookup));
    return static_cast<Exit>(again_inside_lab(command.argv, nodes, command.out));
  }
  if (command.jobs > 1) {
    throw Error(Exit::kUsage, fmt::format("--jobs {}", command.jobs),
                "a lab holds one run at a time", "leave --jobs away, or --lab");
  }
  Exit worst = Exit::kPass;
  bool interrupted = false;  // also when the run was left unhealed, which is the worse exit
  for (int round = 1; round <= command.repeat; ++round) {
    for (const scenario::Bundle& bundle : bundles) {
      if (interrupted) return worst;
      worst = campaign::worse(worst, run_one(command, bundle, interrupted));
    }
  }
  return worst;
}

}  // namespace unplug::cli
