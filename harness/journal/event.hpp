// One observed fact with a time, a node and a source. docs/journal.md lists the kinds.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace unplug::journal {

using Json = nlohmann::ordered_json;

// When a node saw something, on its own continuous clock; `boot` says which boot it counts from.
struct NodeTime {
  std::string boot;
  std::int64_t ns = 0;
  bool operator==(const NodeTime&) const = default;
};

struct Event {
  std::uint64_t seq = 0;  // from 1, without gaps
  std::string prev;       // SHA-256 of the line before, hex; 64 zeros for the first
  std::int64_t t = 0;     // controller's continuous clock, ns
  std::string wall;       // RFC 3339, for people
  std::string node;       // "" when it is the controller's own fact
  std::optional<NodeTime> node_time;
  std::string src;   // controller, guard, heal, target, observer:<id>
  std::string kind;  // see docs/journal.md
  Json data;
};

// The event as one line without its line feed, and back. from_line throws Error on a line that
// is no event.
std::string to_line(const Event& event);
Event from_line(const std::string& line);

}  // namespace unplug::journal
