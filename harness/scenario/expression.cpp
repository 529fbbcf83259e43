#include "scenario/expression.hpp"

#include <regex.h>

#include <array>

namespace unplug::scenario {

namespace {

// In our own words where we have them: systems say it differently.
std::string reason(int error, const regex_t& compiled) {
  switch (error) {
    case REG_EPAREN:
      return "a \"(\" is not closed";
    case REG_EBRACK:
      return "a \"[\" is not closed";
    case REG_EBRACE:
      return "a \"{\" is not closed";
    case REG_BADRPT:
      return "\"*\", \"+\" or \"?\" has nothing to repeat";
    case REG_BADBR:
      return "no count stands in \"{ }\"";
    case REG_ERANGE:
      return "a range ends before it begins";
    case REG_ECTYPE:
      return "there is no such class of characters";
    case REG_EESCAPE:
      return "it ends in a backslash";
    default:
      break;
  }
  std::array<char, 256> text{};
  regerror(error, &compiled, text.data(), text.size());
  return text.data();
}

}  // namespace

Expression inspect_expression(const std::string& pattern) {
  regex_t compiled{};
  const int error = regcomp(&compiled, pattern.c_str(), REG_EXTENDED);
  if (error != 0) {
    return {reason(error, compiled), 0};
  }
  const Expression expression{"", static_cast<int>(compiled.re_nsub)};
  regfree(&compiled);
  return expression;
}

}  // namespace unplug::scenario
