#include "scenario/expression.hpp"

#include <regex.h>

#include <array>

namespace unplug::scenario {

Expression inspect_expression(const std::string& pattern) {
  regex_t compiled{};
  const int error = regcomp(&compiled, pattern.c_str(), REG_EXTENDED);
  if (error != 0) {
    std::array<char, 256> text{};
    regerror(error, &compiled, text.data(), text.size());
    return {text.data(), 0};
  }
  const Expression expression{"", static_cast<int>(compiled.re_nsub)};
  regfree(&compiled);
  return expression;
}

}  // namespace unplug::scenario
