// How a process ended, as the log line of whoever waited for it says (`exits` in target.json).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/ere.hpp"
#include "journal/event.hpp"
#include "scenario/target.hpp"

namespace unplug::run {

struct SeenExit {
  std::string part;
  std::int64_t pid = 0;
  journal::Json exit;  // {"code": 3} or {"signal": "KILL"}
};

class ExitLines {
 public:
  explicit ExitLines(const scenario::Target& target);
  std::vector<SeenExit> read(const std::string& log, const std::string& text) const;

 private:
  struct Line {
    std::string part;
    scenario::ExitLine line;
    Ere pattern;
  };
  std::vector<Line> lines_;
};

// 0 to 128 is a code, 128 + N and -N are signal N.
journal::Json exit_of_code(int code);

}  // namespace unplug::run
