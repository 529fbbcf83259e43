#include "scenario/syntax.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace unplug::scenario {
namespace {

bool word_char(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// Skips blanks and comments from `from` on.
std::size_t next_token(std::string_view text, std::size_t from) {
  while (from < text.size()) {
    if (std::isspace(static_cast<unsigned char>(text[from])) != 0) {
      ++from;
    } else if (text.substr(from, 2) == "//") {
      from = std::min(text.find('\n', from), text.size());
    } else if (text.substr(from, 2) == "/*") {
      const std::size_t end = text.find("*/", from + 2);
      from = end == std::string_view::npos ? text.size() : end + 2;
    } else {
      break;
    }
  }
  return from;
}

// The first token that was not understood, past the punctuation that was.
std::size_t culprit(const SyntaxError& e) {
  std::size_t at = next_token(e.text, e.understood);
  while (at + 1 < e.offset && (e.text[at] == ',' || e.text[at] == ':')) {
    const std::size_t next = next_token(e.text, at + 1);
    if (next >= e.offset) break;
    at = next;
  }
  return at;
}

std::string word_at(std::string_view text, std::size_t at) {
  std::size_t end = at;
  while (end < text.size() && word_char(text[end])) ++end;
  return std::string(text.substr(at, end - at));
}

char closing(char bracket) { return bracket == '{' ? '}' : ']'; }

Explanation ended_early(const SyntaxError& e) {
  if (e.open.empty()) {
    return {e.text.size(), "the file ends before anything was said", "write one object: {...}"};
  }
  const std::size_t open = e.open.back();
  return {open, fmt::format("this \"{}\" is never closed", e.text[open]),
          fmt::format("write the missing \"{}\"", closing(e.text[open]))};
}

Explanation bad_string(const SyntaxError& e) {
  const std::size_t start = std::min(e.text.find('"', culprit(e)), e.offset);
  if (contains(e.said, "missing closing quote") || contains(e.said, "U+000A")) {
    return {start, "this text is not closed on its line", "write the missing quote"};
  }
  if (contains(e.said, "control character")) {
    return {e.offset - 1, "a control character stands inside this text",
            R"(write it as an escape, such as \t)"};
  }
  if (contains(e.said, "backslash") || contains(e.said, "\\u")) {
    return {e.offset - 1, "this is no escape that JSON has", R"(write \\ for a backslash)"};
  }
  return {start, "this text is not whole", "write it anew"};
}

Explanation bad_word(const SyntaxError& e) {
  const std::size_t at = culprit(e);
  const std::string word = at < e.text.size() ? word_at(e.text, at) : "";
  if (word.empty()) {
    const char c = at < e.text.size() ? e.text[at] : ' ';
    if (c == '\'') return {at, "text stands in double quotes", "write \" instead of '"};
    return {at, fmt::format("\"{}\" has no meaning here", c), "remove it, or put text in quotes"};
  }
  return {at, fmt::format("the word {} stands without quotes", word),
          fmt::format("write \"{}\"; only true, false and null stand without", word)};
}

// A bracket closes although a comma promised more, or closes nothing.
Explanation closed_early(const SyntaxError& e, std::size_t at) {
  const std::size_t before = next_token(e.text, e.understood);
  if (before < at && e.text[before] == ',') {
    return {before, fmt::format("a comma stands before \"{}\"", e.text[at]), "remove the comma"};
  }
  if (!e.open.empty() && closing(e.text[e.open.back()]) != e.text[at]) {
    const Position open = position_at(e.text, e.open.back());
    return {at, fmt::format("\"{}\" does not close what is open", e.text[at]),
            fmt::format("the \"{}\" of line {} is closed by \"{}\"", e.text[e.open.back()],
                        open.line, closing(e.text[e.open.back()]))};
  }
  return {at, fmt::format("\"{}\" stands where a value is expected", e.text[at]),
          "write the value"};
}

Explanation unexpected(const SyntaxError& e) {
  const std::size_t at = std::min(culprit(e), e.text.size() - 1);
  const char c = e.text[at];
  if (contains(e.said, "expected end of input")) {
    return {at, "something follows the end of the file's object", "remove it"};
  }
  if (c == '}' || c == ']') return closed_early(e, at);
  if (contains(e.said, "expected ':'")) {
    return {at, "a colon is missing after the key", R"(write "key": value)"};
  }
  if (contains(e.said, "expected ',' or") || contains(e.said, "expected '}'") ||
      contains(e.said, "expected ']'")) {
    return {at, "a comma is missing before this", "write the comma"};
  }
  if (contains(e.said, "expected string literal") || contains(e.said, "object key")) {
    return {at, "a key in double quotes is expected here", R"(write "key": value)"};
  }
  return {at, fmt::format("\"{}\" has no meaning here", c), "remove it"};
}

// Length of the UTF-8 sequence that begins with `lead`; 0 when none does.
std::size_t sequence_length(unsigned char lead) {
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead <= 0xDF) return 2;
  if (lead >= 0xE0 && lead <= 0xEF) return 3;
  if (lead >= 0xF0 && lead <= 0xF4) return 4;
  return 0;
}

bool bad_second_byte(unsigned char lead, unsigned char second) {
  return (lead == 0xE0 && second < 0xA0) || (lead == 0xED && second > 0x9F) ||
         (lead == 0xF0 && second < 0x90) || (lead == 0xF4 && second > 0x8F);
}

}  // namespace

Position position_at(std::string_view text, std::size_t offset) {
  const std::string_view before = text.substr(0, std::min(offset, text.size()));
  const std::size_t line = before.rfind('\n');
  const std::string_view in_line =
      line == std::string_view::npos ? before : before.substr(line + 1);
  const auto characters = std::ranges::count_if(
      in_line, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; });
  return {static_cast<int>(std::ranges::count(before, '\n')) + 1, static_cast<int>(characters) + 1};
}

Explanation explain(const SyntaxError& e) {
  if (contains(e.said, "number overflow")) {
    return {culprit(e), "this number is too large", "write a number below 1e308"};
  }
  if (contains(e.said, "invalid comment")) {
    return {e.text.find('/', e.understood), "this comment is not closed, or no comment",
            "write /* ... */ or // ..."};
  }
  if (contains(e.said, "invalid string")) return bad_string(e);
  if (contains(e.said, "invalid number")) {
    return {culprit(e), "this is no number", "write digits, such as 5, 0.5 or -1"};
  }
  if (contains(e.said, "invalid literal")) return bad_word(e);
  if (contains(e.said, "unexpected end of input")) return ended_early(e);
  return unexpected(e);
}

std::size_t not_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    const std::size_t length = sequence_length(lead);
    if (length == 0 || i + length > text.size()) return i;
    for (std::size_t k = 1; k < length; ++k) {
      const auto byte = static_cast<unsigned char>(text[i + k]);
      if ((byte & 0xC0U) != 0x80U || (k == 1 && bad_second_byte(lead, byte))) return i;
    }
    i += length;
  }
  return std::string_view::npos;
}

}  // namespace unplug::scenario
