// Why a text is not JSON, in words for the person who typed it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "scenario/document.hpp"

namespace unplug::scenario {

Position position_at(std::string_view text, std::size_t offset);

// Where the parser gave up, and what it knew.
struct SyntaxError {
  std::string_view text;
  std::size_t offset = 0;         // just past the last character it took
  std::size_t understood = 0;     // just past the last token it understood
  std::vector<std::size_t> open;  // offsets of the brackets that are open, outermost first
  std::string said;               // the parser's own message
};

struct Explanation {
  std::size_t offset = 0;
  std::string what;
  std::string mend;
};
Explanation explain(const SyntaxError& error);

// Offset of the first byte that is not UTF-8, or npos.
std::size_t not_utf8(std::string_view text);

}  // namespace unplug::scenario
