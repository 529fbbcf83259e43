// From positioned values to fields, with every problem of a file at once.
//
// A Sheet is one file being read. An Object takes the keys of one JSON object: `need` and `may`
// read a value into a field, and what nobody has taken by the end of its life is an unknown key.
// Nothing here throws; a field that could not be read keeps its default.
#pragma once

#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.hpp"
#include "scenario/document.hpp"

namespace unplug::scenario {

// shape ("node", "fault", ...) -> keys that its reader takes. The schemas are held against it.
using KeysTaken = std::map<std::string, std::set<std::string>>;

class Sheet {
 public:
  Sheet(std::filesystem::path file, std::vector<Problem>& problems)
      : file_(std::move(file)), problems_(problems) {}

  const std::filesystem::path& file() const { return file_; }
  std::filesystem::path folder() const { return file_.parent_path(); }
  const KeysTaken& keys_taken() const { return keys_taken_; }
  void note_key(const std::string& shape, std::string_view key) {
    keys_taken_[shape].insert(std::string(key));
  }

  void complain(Position where, std::string what, std::string mend);
  void complain(const Value& value, std::string what, std::string mend) {
    complain(value.position, std::move(what), std::move(mend));
  }
  // "there is no place "wroker"; did you mean "worker"?", or the names there are.
  void unknown(Position where, const std::string& kind, const std::string& name,
               const std::vector<std::string>& names);

  // Each reads a value that stands under `key`; false (and a problem) when it is of another kind.
  bool read(const Value& value, std::string_view key, std::string& into);
  bool read(const Value& value, std::string_view key, bool& into);
  bool read(const Value& value, std::string_view key, int& into);
  bool read(const Value& value, std::string_view key, std::uint64_t& into);
  bool read(const Value& value, std::string_view key, double& into);
  bool read(const Value& value, std::string_view key, Duration& into);
  // (Bytes is std::uint64_t, hence the name.)
  bool read_bytes(const Value& value, std::string_view key, Bytes& into);
  bool read(const Value& value, std::string_view key, std::vector<std::string>& into);
  bool read(const Value& value, std::string_view key, std::vector<int>& into);
  template <class T>
  bool read(const Value& value, std::string_view key, std::optional<T>& into) {
    T read_value{};
    if (!read(value, key, read_value)) return false;
    into = std::move(read_value);
    return true;
  }
  // The text must be one of `words`.
  bool read_word(const Value& value, std::string_view key, const std::vector<std::string>& words,
                 std::string& into);
  bool is_list(const Value& value, std::string_view key);
  bool is_object(const Value& value, std::string_view key);

  // A name of the file's own: letters, digits, "_" and "-", a letter first. False (and a
  // problem) otherwise, or when it is one of `reserved`.
  bool good_name(Position where, const std::string& kind, const std::string& name,
                 const std::vector<std::string>& reserved = {});

 private:
  std::filesystem::path file_;
  std::vector<Problem>& problems_;
  KeysTaken keys_taken_;
};

// What a file says about itself to people.
struct Remarks {
  std::string about;
  std::string asks;
};

class Object {
 public:
  // Complains when `value` is no object; then it has no keys, and nothing more is said of it.
  Object(Sheet& sheet, const Value& value, std::string shape);
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;
  ~Object();

  Position position() const { return value_.position; }
  // The value under `key`, or null. The key counts as taken.
  const Value* find(std::string_view key);
  // The same, with a problem when it is missing; `example` is a JSON text that would do.
  const Value* need(std::string_view key, const std::string& example);

  template <class T>
  bool need(std::string_view key, T& into, const std::string& example) {
    const Value* value = need(key, example);
    return value != nullptr && sheet_.read(*value, key, into);
  }
  template <class T>
  bool may(std::string_view key, T& into) {
    const Value* value = find(key);
    return value != nullptr && sheet_.read(*value, key, into);
  }
  bool may_bytes(std::string_view key, Bytes& into) {
    const Value* value = find(key);
    return value != nullptr && sheet_.read_bytes(*value, key, into);
  }
  // The word's place in `words`, or nothing.
  std::optional<std::size_t> word(const Value* value, std::string_view key,
                                  const std::vector<std::string>& words);

  // Keys that no reader uses: "about" anywhere, and those that only a whole file has.
  void remarks();
  Remarks file_remarks();
  // A key of the design that this build does not have: said as such.
  void later(std::string_view key);
  // Takes every key that is left, as (key, position, value).
  std::vector<const Value::Member*> rest();

 private:
  bool taken(std::string_view key) const;
  void unknown_key(const Value::Member& member, const std::vector<std::string>& names);
  std::string here() const;  // "this fault", or "limits" in quotes

  Sheet& sheet_;
  const Value& value_;
  std::string shape_;
  std::vector<std::string> taken_;
  std::vector<std::string> named_;  // taken by name: what "known here" lists
};

// "a, b and c", each in quotes.
std::string listed(const std::vector<std::string>& names);

}  // namespace unplug::scenario
