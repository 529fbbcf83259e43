#include "scenario/reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <utility>

#include "base/suggest.hpp"

namespace unplug::scenario {
namespace {

std::string kind_of(const Value& value) {
  switch (value.kind) {
    case Value::Kind::kNull:
      return "null";
    case Value::Kind::kBoolean:
      return value.text;
    case Value::Kind::kInteger:
    case Value::Kind::kNumber:
      return "the number " + value.text;
    case Value::Kind::kString:
      return "the text \"" + value.text + "\"";
    case Value::Kind::kList:
      return "a list";
    case Value::Kind::kObject:
      return "an object";
  }
  return "something else";
}

bool is_number(const Value& value) {
  return value.kind == Value::Kind::kInteger || value.kind == Value::Kind::kNumber;
}

template <class T>
bool whole_number(const Value& value, T& into) {
  if (value.kind != Value::Kind::kInteger) return false;
  const char* end = value.text.data() + value.text.size();
  T number{};
  const auto [stop, error] = std::from_chars(value.text.data(), end, number);
  if (error != std::errc{} || stop != end) return false;
  into = number;
  return true;
}

// The unit that was most likely meant: "min" is m, "Mb" is MiB.
std::string likely_time(const std::string& tail) {
  if (tail.starts_with("ms") || tail.starts_with("mil")) return "ms";
  if (tail.starts_with("us") || tail.starts_with("mic")) return "us";
  for (const char* unit : {"m", "h", "d"}) {
    if (tail.starts_with(unit)) return unit;
  }
  return "s";
}

std::string likely_size(const std::string& tail) {
  const char first = tail.empty() ? 'm' : tail[0];
  if (first == 'k' || first == 'g' || first == 't') {
    return std::string(1, static_cast<char>(std::toupper(first))) + "iB";
  }
  return first == 'b' ? "B" : "MiB";
}

// What to write instead of a quantity whose unit is missing or wrong.
std::string with_unit(const Value& value, std::string (*likely)(const std::string&),
                      const char* example, const char* units) {
  const std::size_t digits =
      std::min(value.text.find_first_not_of("0123456789."), value.text.size());
  std::string tail;
  for (const unsigned char c : value.text.substr(digits)) {
    if (std::isalpha(c) != 0) tail += static_cast<char>(std::tolower(c));
  }
  const std::string number = value.text.substr(0, digits);
  return fmt::format("write \"{}\" (units: {})", digits == 0 ? example : number + likely(tail),
                     units);
}

}  // namespace

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) text += i + 1 == names.size() ? " and " : ", ";
    text += "\"" + names[i] + "\"";
  }
  return text;
}

void Sheet::complain(Position where, std::string what, std::string mend) {
  problems_.push_back({file_.string(), where.line, where.column, std::move(what), std::move(mend)});
}

void Sheet::unknown(Position where, const std::string& kind, const std::string& name,
                    const std::vector<std::string>& names) {
  std::string mend = names.empty() ? "there is none" : "there are " + listed(names);
  if (names.size() == 1) mend = "there is only " + listed(names);
  if (const auto near = nearest(name, names)) mend = fmt::format("did you mean \"{}\"?", *near);
  complain(where, fmt::format("there is no {} \"{}\"", kind, name), std::move(mend));
}

bool Sheet::read(const Value& value, std::string_view key, std::string& into) {
  if (value.kind != Value::Kind::kString) {
    complain(value, fmt::format("\"{}\" is {}", key, kind_of(value)), "write a text in quotes");
    return false;
  }
  if (value.text.empty()) {
    complain(value, fmt::format("\"{}\" is empty", key), "write a text, or leave the key out");
    return false;
  }
  into = value.text;
  return true;
}

bool Sheet::read(const Value& value, std::string_view key, bool& into) {
  if (value.kind != Value::Kind::kBoolean) {
    complain(value, fmt::format("\"{}\" is {}", key, kind_of(value)), "write true or false");
    return false;
  }
  into = value.text == "true";
  return true;
}

bool Sheet::read(const Value& value, std::string_view key, int& into) {
  if (whole_number(value, into)) return true;
  complain(value, fmt::format("\"{}\" is {}", key, kind_of(value)), "write a whole number");
  return false;
}

bool Sheet::read(const Value& value, std::string_view key, std::uint64_t& into) {
  if (whole_number(value, into)) return true;
  complain(value, fmt::format("\"{}\" is {}", key, kind_of(value)),
           "write a whole number from 0 to 18446744073709551615");
  return false;
}

bool Sheet::read(const Value& value, std::string_view key, double& into) {
  if (!is_number(value)) {
    complain(value, fmt::format("\"{}\" is {}", key, kind_of(value)), "write a number");
    return false;
  }
  into = value.number;
  return true;
}

bool Sheet::read(const Value& value, std::string_view key, Duration& into) {
  if (value.kind == Value::Kind::kString) {
    if (const auto duration = parse_duration(value.text)) {
      into = *duration;
      return true;
    }
  }
  complain(value, fmt::format("\"{}\" is {}, which is no time with a unit", key, kind_of(value)),
           with_unit(value, likely_time, "5s", "ns, us, ms, s, m, h, d"));
  return false;
}

bool Sheet::read_bytes(const Value& value, std::string_view key, Bytes& into) {
  if (value.kind == Value::Kind::kString) {
    if (const auto bytes = parse_bytes(value.text)) {
      into = *bytes;
      return true;
    }
  }
  complain(value, fmt::format("\"{}\" is {}, which is no size with a unit", key, kind_of(value)),
           with_unit(value, likely_size, "64MiB", "B, KiB, MiB, GiB, TiB, KB, MB, GB, TB"));
  return false;
}

bool Sheet::read(const Value& value, std::string_view key, std::vector<std::string>& into) {
  if (!is_list(value, key)) return false;
  bool good = true;
  for (const Value& item : value.items) {
    std::string text;
    // An argument or a prefix may well be empty: only the kind counts here.
    if (item.kind == Value::Kind::kString) {
      text = item.text;
    } else {
      good = read(item, key, text) && good;
    }
    into.push_back(std::move(text));
  }
  return good;
}

bool Sheet::read(const Value& value, std::string_view key, std::vector<int>& into) {
  if (!is_list(value, key)) return false;
  bool good = true;
  for (const Value& item : value.items) good = read(item, key, into.emplace_back()) && good;
  return good;
}

bool Sheet::read_word(const Value& value, std::string_view key,
                      const std::vector<std::string>& words, std::string& into) {
  std::string text;
  if (!read(value, key, text)) return false;
  if (std::ranges::find(words, text) == words.end()) {
    std::string mend = words.size() == 1 ? "write " + listed(words) : "one of " + listed(words);
    if (const auto near = nearest(text, words)) mend = fmt::format("did you mean \"{}\"?", *near);
    complain(value, fmt::format("\"{}\" cannot be \"{}\"", key, text), std::move(mend));
    return false;
  }
  into = std::move(text);
  return true;
}

bool Sheet::is_list(const Value& value, std::string_view key) {
  if (value.kind == Value::Kind::kList) return true;
  complain(value, fmt::format("\"{}\" is {}", key, kind_of(value)), "write a list: [...]");
  return false;
}

bool Sheet::is_object(const Value& value, std::string_view key) {
  if (value.kind == Value::Kind::kObject) return true;
  complain(value, fmt::format("\"{}\" is {}", key, kind_of(value)), "write an object: {...}");
  return false;
}

bool Sheet::good_name(Position where, const std::string& kind, const std::string& name,
                      const std::vector<std::string>& reserved) {
  const auto fits = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '-'; };
  if (name.empty() || std::isalpha(static_cast<unsigned char>(name[0])) == 0 ||
      !std::ranges::all_of(name, fits)) {
    complain(where, fmt::format("\"{}\" cannot be the name of a {}", name, kind),
             "write letters, digits, \"_\" and \"-\", a letter first");
    return false;
  }
  if (std::ranges::find(reserved, name) != reserved.end()) {
    complain(where, fmt::format("\"{}\" is reserved and cannot be the name of a {}", name, kind),
             "choose another name");
    return false;
  }
  return true;
}

Object::Object(Sheet& sheet, const Value& value, std::string shape)
    : sheet_(sheet), value_(value), shape_(std::move(shape)) {
  sheet_.is_object(value_, shape_);
}

Object::~Object() {
  for (const Value::Member& member : value_.members) {
    if (!taken(member.key)) unknown_key(member, named_);
  }
}

void Object::unknown_key(const Value::Member& member, const std::vector<std::string>& names) {
  std::string mend = "known here: " + listed(names);
  if (const auto near = nearest(member.key, names))
    mend = fmt::format("did you mean \"{}\"?", *near);
  sheet_.complain(member.position, fmt::format("unknown key \"{}\" in {}", member.key, here()),
                  std::move(mend));
}

std::string Object::here() const {
  // Shapes that stand once, under a key of this name; all others are one of several.
  for (const char* key : {"limits", "when", "ssh", "items", "found", "workload"}) {
    if (shape_ == key) return "\"" + shape_ + "\"";
  }
  return "this " + shape_;
}

bool Object::taken(std::string_view key) const {
  return std::ranges::find(taken_, key) != taken_.end();
}

const Value* Object::find(std::string_view key) {
  sheet_.note_key(shape_, key);
  taken_.emplace_back(key);
  named_.emplace_back(key);
  return value_.find(key);
}

const Value* Object::need(std::string_view key, const std::string& example) {
  const Value* value = find(key);
  if (value != nullptr || value_.kind != Value::Kind::kObject) return value;
  // A misspelt key is missing and unknown at once: that is one mistake, and said once.
  for (const Value::Member& member : value_.members) {
    if (taken(member.key) || !nearest(member.key, {std::string(key)})) continue;
    unknown_key(member, {std::string(key)});
    taken_.push_back(member.key);
    return nullptr;
  }
  sheet_.complain(value_, fmt::format("{} has no \"{}\"", here(), key),
                  fmt::format("write \"{}\": {}", key, example));
  return nullptr;
}

std::optional<std::size_t> Object::word(const Value* value, std::string_view key,
                                        const std::vector<std::string>& words) {
  std::string text;
  if (value == nullptr || !sheet_.read_word(*value, key, words, text)) return std::nullopt;
  return static_cast<std::size_t>(std::ranges::find(words, text) - words.begin());
}

void Object::remarks() {
  std::string text;
  may("about", text);
}

Remarks Object::file_remarks() {
  Remarks remarks;
  std::string schema;
  may("$schema", schema);
  may("about", remarks.about);
  may("asks", remarks.asks);
  return remarks;
}

void Object::later(std::string_view key) {
  taken_.emplace_back(key);
  for (const Value::Member& member : value_.members) {
    if (member.key != key) continue;
    sheet_.complain(member.position, fmt::format("this build has no \"{}\" yet", key),
                    "leave it out");
  }
}

std::vector<const Value::Member*> Object::rest() {
  std::vector<const Value::Member*> members;
  for (const Value::Member& member : value_.members) {
    if (!taken(member.key)) members.push_back(&member);
  }
  for (const Value::Member* member : members) taken_.push_back(member->key);
  return members;
}

}  // namespace unplug::scenario
