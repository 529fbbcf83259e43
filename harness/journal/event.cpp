#include "journal/event.hpp"

#include "base/error.hpp"

namespace unplug::journal {
namespace {

Error no_event(const std::string& why) { return {Exit::kUsage, "journal", "not an event: " + why}; }

const Json& member(const Json& line, const char* key) {
  const auto found = line.find(key);
  if (found == line.end()) throw no_event(std::string("no \"") + key + "\"");
  return *found;
}

std::string text(const Json& line, const char* key) {
  const Json& value = member(line, key);
  if (!value.is_string()) throw no_event(std::string("\"") + key + "\" is no string");
  return value.get<std::string>();
}

std::int64_t integer(const Json& line, const char* key) {
  const Json& value = member(line, key);
  if (!value.is_number_integer()) throw no_event(std::string("\"") + key + "\" is no integer");
  return value.get<std::int64_t>();
}

bool null(const Json& line, const char* key) { return member(line, key).is_null(); }

std::optional<NodeTime> node_time(const Json& line) {
  if (null(line, "nboot") && null(line, "nt")) return std::nullopt;
  return NodeTime{text(line, "nboot"), integer(line, "nt")};
}

}  // namespace

std::string to_line(const Event& event) {
  Json line;
  line["seq"] = event.seq;
  line["prev"] = event.prev;
  line["t"] = event.t;
  line["wall"] = event.wall;
  line["node"] = event.node.empty() ? Json(nullptr) : Json(event.node);
  line["nboot"] = event.node_time ? Json(event.node_time->boot) : Json(nullptr);
  line["nt"] = event.node_time ? Json(event.node_time->ns) : Json(nullptr);
  line["src"] = event.src;
  line["kind"] = event.kind;
  line["data"] = event.data;
  // Names of files and log lines are bytes, JSON is UTF-8: what is not becomes U+FFFD. An event
  // is never lost because of the text that it quotes.
  return line.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Event from_line(const std::string& line) {
  const Json json = Json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) throw no_event("no JSON object");
  Event event;
  event.seq = static_cast<std::uint64_t>(integer(json, "seq"));
  event.prev = text(json, "prev");
  event.t = integer(json, "t");
  event.wall = text(json, "wall");
  if (!null(json, "node")) event.node = text(json, "node");
  event.node_time = node_time(json);
  event.src = text(json, "src");
  event.kind = text(json, "kind");
  event.data = member(json, "data");
  return event;
}

}  // namespace unplug::journal
