// Reads an event's data without trusting it: what a node sent may miss anything.
#pragma once

#include <optional>
#include <string>

#include "journal/event.hpp"

namespace unplug::check {

inline const journal::Json* field(const journal::Json& data, const char* key) {
  if (!data.is_object()) return nullptr;
  const auto found = data.find(key);
  return found == data.end() || found->is_null() ? nullptr : &*found;
}

inline std::string text_of(const journal::Json& data, const char* key) {
  const journal::Json* value = field(data, key);
  return value != nullptr && value->is_string() ? value->get<std::string>() : std::string();
}

// A field that a target's line said: a text as it is, anything else as JSON.
inline std::string scalar_text(const journal::Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

inline std::optional<std::int64_t> integer_of(const journal::Json& data, const char* key) {
  const journal::Json* value = field(data, key);
  if (value == nullptr || !value->is_number_integer()) return std::nullopt;
  return value->get<std::int64_t>();
}

inline std::optional<double> number_of(const journal::Json& data, const char* key) {
  const journal::Json* value = field(data, key);
  if (value == nullptr || !value->is_number()) return std::nullopt;
  return value->get<double>();
}

inline bool flag_of(const journal::Json& data, const char* key, bool otherwise) {
  const journal::Json* value = field(data, key);
  return value != nullptr && value->is_boolean() ? value->get<bool>() : otherwise;
}

inline const journal::Json& list_of(const journal::Json& data, const char* key) {
  static const journal::Json kNone = journal::Json::array();
  const journal::Json* value = field(data, key);
  return value != nullptr && value->is_array() ? *value : kNone;
}

}  // namespace unplug::check
