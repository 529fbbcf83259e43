#include <fmt/format.h>

#include "cli/bring_lab.hpp"
#include "cli/commands.hpp"

namespace unplug::cli {

Exit validate(const ValidateCommand& command) {
  const scenario::Library library = library_of(command.lookup);
  std::vector<scenario::Problem> problems;
  for (const auto& file : command.files) {
    const auto found = scenario::validate_file(file, library, command.lab);
    if (found.empty()) fmt::print("{}: good\n", file.string());
    problems.insert(problems.end(), found.begin(), found.end());
  }
  print_problems(problems);
  return problems.empty() ? Exit::kPass : Exit::kUsage;
}

}  // namespace unplug::cli
