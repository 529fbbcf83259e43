#include "run/doctor.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/bring_lab.hpp"
#include "cli/commands.hpp"
#include "cli/console.hpp"

namespace unplug::cli {
namespace {

using run::DoctorRow;
using Line = std::vector<std::string>;

// A node's name, then the texts of its cells.
Line line_of(const DoctorRow& row) {
  Line line = {row.node};
  for (const run::Cell& cell : row.cells) line.push_back(printable(cell.text));
  return line;
}

std::vector<Line> table_of(const std::vector<DoctorRow>& rows) {
  Line head = {"node"};
  for (const run::Cell& cell : rows.front().cells) head.push_back(cell.topic);
  std::vector<Line> table = {head};
  for (const DoctorRow& row : rows) table.push_back(line_of(row));
  return table;
}

void print_table(const std::vector<Line>& table) {
  std::vector<std::size_t> widths(table.front().size());
  for (const Line& line : table) {
    for (std::size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], line[i].size());
  }
  for (const Line& line : table) {
    std::string text;
    for (std::size_t i = 0; i < line.size(); ++i) {
      text += i + 1 < line.size() ? fmt::format("{:<{}}", line[i], widths[i] + 2) : line[i];
    }
    fmt::print("{}\n", text);
  }
}

void print_mends(const DoctorRow& row) {
  for (const run::Cell& cell : row.cells) {
    if (cell.mend.empty()) continue;
    fmt::print("{} {}, {}: {}\n", cell.health == run::Health::kFailed ? "FAILED" : "slow  ",
               row.node, cell.topic, printable(cell.mend));
  }
}

}  // namespace

Exit doctor(const DoctorCommand& command) {
  const auto file = lab_file({command.lab, 0});
  if (!file) {
    throw Error(Exit::kUsage, "doctor", "no lab is named", "unplug doctor --lab LAB.json");
  }
  const scenario::LoadedLab loaded = scenario::load_lab(*file);
  print_problems(loaded.problems);
  if (!loaded.lab) return Exit::kUsage;
  const std::vector<DoctorRow> rows = run::examine(*loaded.lab);
  print_table(table_of(rows));
  fmt::print("\n");
  for (const DoctorRow& row : rows) print_mends(row);
  const auto ready = std::ranges::count_if(rows, run::is_ready);
  if (static_cast<std::size_t>(ready) == rows.size()) {
    fmt::print("lab {} is ready\n", loaded.lab->name);
    return Exit::kPass;
  }
  fmt::print("lab {} is NOT ready: {} of {} nodes are\n", loaded.lab->name, ready, rows.size());
  return Exit::kInconclusive;
}

}  // namespace unplug::cli
