#include "campaign/repeat.hpp"

#include <fmt/format.h>

#include <map>

#include "base/units.hpp"
#include "campaign/worst.hpp"
#include "cli/bring_lab.hpp"
#include "cli/commands.hpp"
#include "cli/console.hpp"

namespace unplug::cli {
namespace {

const char* word_of(Exit exit) {
  switch (exit) {
    case Exit::kPass:
      return "pass";
    case Exit::kFail:
      return "FAIL";
    case Exit::kInconclusive:
      return "INCONCLUSIVE";
    case Exit::kUnhealed:
      return "UNHEALED";
    case Exit::kInterrupted:
      return "INTERRUPTED";
    case Exit::kUsage:
    case Exit::kInternal:
      break;
  }
  return "BROKEN";
}

void tell(const campaign::Repeated& run) {
  fmt::print("{:<24} {:>4}  {:<12} {:>8}", run.scenario.stem().string(), run.round,
             word_of(run.exit), for_people(run.took));
  for (const std::string& word : run.words) fmt::print("  {}", printable(word));
  if (run.exit != Exit::kPass) fmt::print("  {}", run.folder.string());
  fmt::print("\n");
  std::fflush(stdout);
}

// One line a scenario: how often it ended how.
void tell_sums(const campaign::RepeatOutcome& outcome, const std::filesystem::path& out) {
  std::map<std::string, std::map<std::string, int>> sums;
  for (const auto& run : outcome.runs) ++sums[run.scenario.stem().string()][word_of(run.exit)];
  fmt::print("\n");
  for (const auto& [scenario, ends] : sums) {
    fmt::print("{:<24}", scenario);
    for (const auto& [end, count] : ends) fmt::print("  {} {}", count, end);
    fmt::print("\n");
  }
  fmt::print("{} runs{}; all of them are kept in {}\n", outcome.runs.size(),
             outcome.interrupted ? ", then interrupted: the labs that ran are gone" : "",
             out.string());
}

}  // namespace

Exit repeat(const RunCommand& command) {
  campaign::RepeatOptions options;
  options.scenarios = command.scenarios;
  options.words = {own_program(command.argv), "run"};
  for (const std::string& word : options_of(command)) options.words.push_back(word);
  if (command.seed) {
    options.words.emplace_back("--seed");
    options.words.push_back(std::to_string(*command.seed));
  }
  options.times = command.repeat;
  options.jobs = command.jobs;
  options.out = command.out;
  const campaign::RepeatOutcome outcome = campaign::repeat(options, tell);
  tell_sums(outcome, command.out);
  Exit worst = outcome.interrupted ? Exit::kInterrupted : Exit::kPass;
  for (const auto& run : outcome.runs) worst = campaign::worse(worst, run.exit);
  return worst;
}

}  // namespace unplug::cli
