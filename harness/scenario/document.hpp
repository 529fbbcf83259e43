// A JSON file in which every value and every key knows where it stands.
//
// Comments are allowed. What is wrong with the text itself (syntax, UTF-8, a key twice) is said
// here, with line and column; what the values mean is the readers' business (reader.hpp).
// Columns count characters, not bytes, as editors do.
#pragma once

#include <compare>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scenario/problem.hpp"

namespace unplug::scenario {

struct Position {
  int line = 1;
  int column = 1;
  auto operator<=>(const Position&) const = default;
};

struct Value {
  enum class Kind { kNull, kBoolean, kInteger, kNumber, kString, kList, kObject };
  struct Member;

  Kind kind = Kind::kNull;
  Position position;
  std::string text;             // a string's content; of other scalars what the file says
  double number = 0;            // of both kinds of number
  std::vector<Value> items;     // of a list
  std::vector<Member> members;  // of an object, in the file's order

  const Value* find(std::string_view key) const;
};

struct Value::Member {
  std::string key;
  Position position;  // of the key
  Value value;
};

// Reads and parses; every problem is added to `problems`. nullopt when there is no whole value.
std::optional<Value> read_document(const std::filesystem::path& file,
                                   std::vector<Problem>& problems);

// The same of a text that is already in memory; `file` is for messages.
std::optional<Value> parse_document(const std::string& file, std::string_view text,
                                    std::vector<Problem>& problems);

}  // namespace unplug::scenario
