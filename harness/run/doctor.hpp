// Is a lab ready for a run? Facts are gathered at all nodes at once, changing nothing; then each
// question (a file doctor_*.cpp) judges them, pure, into one cell of the node's row.
#pragma once

#include <string>
#include <vector>

#include "scenario/lab.hpp"

namespace unplug::run {

enum class Health { kFine, kUnknown, kWarning, kFailed };  // unknown: an earlier step failed

struct Cell {
  std::string topic;  // the column's name
  Health health = Health::kFine;
  std::string text;
  std::string mend;  // of a warning or a failure: what is wrong, and what to do
};

struct DoctorRow {
  std::string node;
  std::vector<Cell> cells;  // the same topics in every row
};

// One row a node, in the lab's order.
std::vector<DoctorRow> examine(const scenario::Lab& lab);

// A warning does not keep a lab from being ready.
bool is_ready(const DoctorRow& row);

}  // namespace unplug::run
