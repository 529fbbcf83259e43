#include "reports/report.hpp"

#include <fmt/format.h>

#include "cli/commands.hpp"
#include "cli/console.hpp"

namespace unplug::cli {

Exit report(const ReportCommand& command) {
  if (!std::filesystem::exists(command.run / "journal.jsonl")) {
    throw Error(Exit::kUsage, command.run.string(), "is no run's folder: no journal.jsonl in it",
                "name one, such as runs/20260131-235959-worker-killed");
  }
  const check::Judged judged = check::judge_folder(command.run);
  if (command.format == "junit") {
    fmt::print("{}", reports::junit(judged));
  } else if (command.format == "json") {
    fmt::print("{}\n", reports::result_json(judged).dump(2));
  } else {
    fmt::print("{}", reports::terminal(judged, {stdout_is_terminal(), command.run.string(), ""}));
  }
  return check::exit_of(judged.result.verdict);
}

}  // namespace unplug::cli
