#include "scenario/document.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>

#include "scenario/syntax.hpp"

namespace unplug::scenario {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr std::size_t kDeepest = 64;           // a file of ours needs ten
constexpr std::uintmax_t kLargest = 16 << 20;  // bytes; a file of ours has a few thousand

// Walks the text for the parser and remembers how far it was read. The library keeps no
// offsets of values; this iterator is how we know them without reading the text twice.
class Cursor {
 public:
  using iterator_category = std::forward_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  Cursor() = default;
  Cursor(const char* at, const char** farthest) : at_(at), farthest_(farthest) {}
  reference operator*() const { return *at_; }
  Cursor& operator++() {
    *farthest_ = std::max(*farthest_, ++at_);
    return *this;
  }
  Cursor operator++(int) {
    const Cursor before = *this;
    ++*this;
    return before;
  }
  bool operator==(const Cursor& other) const { return at_ == other.at_; }
  bool operator!=(const Cursor& other) const { return at_ != other.at_; }

 private:
  const char* at_ = nullptr;
  const char** farthest_ = nullptr;
};

// Builds the tree. Each callback comes right after its token was read, so that the token ends
// at farthest() (a number: one character before, because its end is seen by reading on).
class Builder : public nlohmann::json_sax<Json> {
 public:
  Builder(std::string file, std::string_view text, std::vector<Problem>& problems)
      : file_(std::move(file)), text_(text), problems_(problems), farthest_(text.data()) {}

  bool parse() {
    const Cursor begin(text_.data(), &farthest_);
    const Cursor end(text_.data() + text_.size(), &farthest_);
    return Json::sax_parse(begin, end, this, Json::input_format_t::json, true, true);
  }
  Value take() { return std::move(root_); }

  bool null() override {
    scalar(Value::Kind::kNull, offset() - 4, "null");
    return true;
  }
  bool boolean(bool yes) override {
    scalar(Value::Kind::kBoolean, offset() - (yes ? 4 : 5), yes ? "true" : "false");
    return true;
  }
  bool number_integer(number_integer_t n) override {
    return number(Value::Kind::kInteger, static_cast<double>(n));
  }
  bool number_unsigned(number_unsigned_t n) override {
    return number(Value::Kind::kInteger, static_cast<double>(n));
  }
  bool number_float(number_float_t n, const string_t&) override {
    return number(Value::Kind::kNumber, n);
  }
  bool string(string_t& text) override {
    scalar(Value::Kind::kString, opening_quote(), text);
    return true;
  }
  bool binary(binary_t&) override { return false; }  // not in JSON text

  bool start_object(std::size_t) override { return open(Value::Kind::kObject); }
  bool start_array(std::size_t) override { return open(Value::Kind::kList); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(string_t& name) override {
    Value& object = *stack_.back().value;
    const Position here = position_at(text_, opening_quote());
    for (const Value::Member& member : object.members) {
      if (member.key != name) continue;
      complain(here, fmt::format("key \"{}\" appears twice", name),
               fmt::format("keep one; the first is on line {}", member.position.line));
      break;
    }
    object.members.push_back({name, here, {}});
    understood_ = offset();
    return true;
  }

  bool parse_error(std::size_t, const std::string&, const Json::exception& error) override {
    SyntaxError syntax{text_, offset(), understood_, {}, error.what()};
    for (const Open& open : stack_) syntax.open.push_back(open.offset);
    const Explanation why = explain(syntax);
    complain(position_at(text_, why.offset), why.what, why.mend);
    return false;
  }

 private:
  struct Open {
    Value* value;
    std::size_t offset;
  };

  std::size_t offset() const { return static_cast<std::size_t>(farthest_ - text_.data()); }

  // Of the string that ends at offset(): the nearest quote before it that is not escaped.
  std::size_t opening_quote() const {
    std::size_t at = offset() - 1;
    while (at > 0) {
      if (text_[--at] != '"') continue;
      std::size_t slashes = 0;
      while (slashes < at && text_[at - slashes - 1] == '\\') ++slashes;
      if (slashes % 2 == 0) break;
    }
    return at;
  }

  bool number(Value::Kind kind, double n) {
    const auto part = [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '+' || c == '.';
    };
    std::size_t end = offset();
    if (end > 0 && !part(text_[end - 1])) --end;
    std::size_t begin = end;
    while (begin > 0 && part(text_[begin - 1])) --begin;
    scalar(kind, begin, std::string(text_.substr(begin, end - begin))).number = n;
    understood_ = end;
    return true;
  }

  Value& scalar(Value::Kind kind, std::size_t begin, std::string text) {
    Value& value = add();
    value.kind = kind;
    value.position = position_at(text_, begin);
    value.text = std::move(text);
    understood_ = offset();
    return value;
  }

  bool open(Value::Kind kind) {
    const Position here = position_at(text_, offset() - 1);
    if (stack_.size() == kDeepest) {
      complain(here, fmt::format("more than {} brackets are open here", kDeepest),
               "write a flatter file");
      return false;
    }
    Value& value = add();
    value.kind = kind;
    value.position = here;
    stack_.push_back({&value, offset() - 1});
    understood_ = offset();
    return true;
  }

  bool close() {
    stack_.pop_back();
    understood_ = offset();
    return true;
  }

  // Room for the next value: the root's, the last key's, or the list's next.
  Value& add() {
    if (stack_.empty()) return root_;
    Value& parent = *stack_.back().value;
    if (parent.kind == Value::Kind::kObject) return parent.members.back().value;
    return parent.items.emplace_back();
  }

  void complain(Position where, std::string what, std::string mend) {
    problems_.push_back({file_, where.line, where.column, std::move(what), std::move(mend)});
  }

  std::string file_;
  std::string_view text_;
  std::vector<Problem>& problems_;
  const char* farthest_;
  std::size_t understood_ = 0;
  Value root_;
  // Pointers stay valid: a list grows only after its last value was closed.
  std::vector<Open> stack_;
};

// What is wrong with the bytes before they are JSON at all; what is empty when nothing is.
Explanation bad_bytes(std::string_view text) {
  if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF")) {
    return {0, "the file is UTF-16", "save it as UTF-8"};
  }
  if (text.starts_with("\xEF\xBB\xBF")) {
    return {0, "the file begins with a byte order mark", "save it as UTF-8 without one"};
  }
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) {
    return {0, "the file is empty", "write one object: {...}"};
  }
  const std::size_t bad = not_utf8(text);
  if (bad != std::string_view::npos) return {bad, "this is not UTF-8", "save the file as UTF-8"};
  return {};
}

}  // namespace

const Value* Value::find(std::string_view key) const {
  for (const Member& member : members) {
    if (member.key == key) return &member.value;
  }
  return nullptr;
}

std::optional<Value> parse_document(const std::string& file, std::string_view text,
                                    std::vector<Problem>& problems) {
  if (const Explanation bad = bad_bytes(text); !bad.what.empty()) {
    const Position here = position_at(text, bad.offset);
    problems.push_back({file, here.line, here.column, bad.what, bad.mend});
    return std::nullopt;
  }
  Builder builder(file, text, problems);
  if (!builder.parse()) return std::nullopt;
  return builder.take();
}

std::optional<Value> read_document(const fs::path& file, std::vector<Problem>& problems) {
  const auto refuse = [&](std::string what, std::string mend) {
    problems.push_back({file.string(), 1, 1, std::move(what), std::move(mend)});
    return std::nullopt;
  };
  std::error_code error;
  if (!fs::exists(file, error)) return refuse("there is no such file", "check the path");
  if (fs::is_directory(file, error)) return refuse("this is a folder", "name a file in it");
  if (fs::is_regular_file(file, error) && fs::file_size(file, error) > kLargest) {
    return refuse("the file is larger than 16 MiB", "name a file that was written by hand");
  }
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  if (!in || (in.peek() != std::char_traits<char>::eof() && !(text << in.rdbuf()))) {
    return refuse("the file cannot be read", "check its permissions");
  }
  return parse_document(file.string(), text.str(), problems);
}

}  // namespace unplug::scenario
