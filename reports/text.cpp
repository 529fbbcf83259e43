#include "reports/text.hpp"

#include <fmt/format.h>

#include <cstdint>

namespace unplug::reports {
namespace {

constexpr const char* kReplacement = "\xEF\xBF\xBD";

struct Rune {
  std::string_view bytes;
  std::uint32_t code = 0;
  bool valid = false;
};

std::size_t length_of(unsigned char first) {
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first < 0xE0) return 2;
  if (first >= 0xE0 && first < 0xF0) return 3;
  return first >= 0xF0 && first < 0xF5 ? 4 : 0;
}

Rune next_rune(std::string_view text) {
  const auto first = static_cast<unsigned char>(text.front());
  const std::size_t length = length_of(first);
  if (length == 0 || length > text.size()) return {text.substr(0, 1), 0, false};
  std::uint32_t code = length == 1 ? first : first & (0xFFu >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if ((byte & 0xC0u) != 0x80u) return {text.substr(0, 1), 0, false};
    code = (code << 6) | (byte & 0x3Fu);
  }
  const bool overlong = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
  const bool surrogate = code >= 0xD800 && code < 0xE000;
  return {text.substr(0, length), code, !overlong && !surrogate && code <= 0x10FFFF};
}

// Characters that change how the text around them is shown.
bool hidden(std::uint32_t code) {
  return (code >= 0x80 && code < 0xA0) || (code >= 0x200B && code <= 0x200F) ||
         (code >= 0x2028 && code <= 0x202E) || (code >= 0x2060 && code <= 0x206F) ||
         code == 0xFEFF || code == 0xFFFE || code == 0xFFFF;
}

std::string shown(const Rune& rune) {
  if (!rune.valid || hidden(rune.code)) return kReplacement;
  if (rune.code == '\n') return "\\n";
  if (rune.code == '\t') return "\\t";
  if (rune.code < 0x20 || rune.code == 0x7F) return fmt::format("\\x{:02x}", rune.code);
  return std::string(rune.bytes);
}

}  // namespace

std::string safe(std::string_view text, std::size_t most) {
  std::string result;
  for (std::size_t count = 0; !text.empty(); ++count) {
    if (count == most) return result + "...";
    const Rune rune = next_rune(text);
    result += shown(rune);
    text.remove_prefix(rune.bytes.size());
  }
  return result;
}

std::string xml(std::string_view text) {
  std::string result;
  for (const char c : safe(text, std::string_view::npos)) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

}  // namespace unplug::reports
