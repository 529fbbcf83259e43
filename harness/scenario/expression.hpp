// POSIX extended regular expressions, as files name them in "match" and "command".
#pragma once

#include <string>

namespace unplug::scenario {

struct Expression {
  std::string wrong;  // why it does not compile; empty when it does
  int groups = 0;     // captures
};

Expression inspect_expression(const std::string& pattern);

}  // namespace unplug::scenario
