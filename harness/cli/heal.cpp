#include "run/heal.hpp"

#include <fmt/format.h>

#include "cli/bring_lab.hpp"
#include "cli/commands.hpp"
#include "cli/console.hpp"

namespace unplug::cli {
namespace {

void print_each(const char* what, const std::vector<std::string>& lines) {
  for (const std::string& line : lines) fmt::print("{} {}\n", what, printable(line));
}

}  // namespace

Exit heal(const HealCommand& command) {
  const auto file = lab_file({command.lab, 0});
  if (!file) {
    throw Error(Exit::kUsage, "heal", "no lab is named", "unplug heal --lab LAB.json");
  }
  const scenario::LoadedLab loaded = scenario::load_lab(*file);
  print_problems(loaded.problems);
  if (!loaded.lab) return Exit::kUsage;
  run::Healed healed;
  {
    Console console;
    healed = run::heal(*loaded.lab, {command.out, command.into, command.force}, console);
  }
  print_each("STILL BROKEN", healed.left);
  print_each("NOT REACHED", healed.unreachable);
  print_each("IN USE", healed.in_use);
  print_each("KEPT", healed.kept);
  if (!healed.folder.empty()) fmt::print("guards' logs: {}\n", healed.folder.string());
  if (!healed.left.empty()) return Exit::kUnhealed;
  if (!healed.kept.empty()) return Exit::kInternal;
  if (!healed.unreachable.empty() || !healed.in_use.empty()) return Exit::kInconclusive;
  fmt::print("{}\n", healed.undone > 0 ? "healed: nothing is left" : "nothing to heal");
  return Exit::kPass;
}

}  // namespace unplug::cli
