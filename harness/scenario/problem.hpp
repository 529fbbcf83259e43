// What is wrong with a file, where, and what would be right.
#pragma once

#include <string>
#include <vector>

namespace unplug::scenario {

struct Problem {
  std::string file;
  int line = 1;
  int column = 1;
  std::string what;  // "unknown key \"injekt\""
  std::string mend;  // "did you mean \"inject\"?"

  // "file:line:column: what; mend"
  std::string text() const;
  bool operator==(const Problem&) const = default;
};

}  // namespace unplug::scenario
