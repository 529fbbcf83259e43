#include "run/observation.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "run/item_paths.hpp"
#include "run/remote.hpp"

namespace unplug::run {
namespace {

using journal::Json;

// docs/node-protocol.md: alive lines come every second; a hole of more than this is a gap.
constexpr std::int64_t kGap = 2'500'000'000;
constexpr std::chrono::seconds kStart{15};
constexpr std::chrono::seconds kStop{15};

}  // namespace

Observation::Observation(Stage& stage, EventListener on_event)
    : stage_(stage), on_event_(std::move(on_event)), exits_(stage.bundle().target) {
  for (const auto& event : stage.bundle().target.events) {
    patterns_.emplace_back(&event, Ere(event.match));
  }
  if (stage.bundle().target.items) item_name_.emplace(stage.bundle().target.items->match);
}

Observation::~Observation() {
  for (const auto& spool : spools_) spool->close();
}

asio::awaitable<std::string> Observation::start() {
  for (const std::string& node : stage_.plan().nodes) {
    spools_.push_back(std::make_shared<Spool>(
        stage_, node, [this](const std::string& n, const Json& l) { heard(n, l); }));
  }
  for (const auto& spool : spools_) {
    const std::string problem = co_await spool->start(within(kStart));
    if (!problem.empty()) co_return problem;
  }
  co_return "";
}

asio::awaitable<void> Observation::stop() {
  for (const auto& spool : spools_) {
    const std::string problem = co_await spool->stop(within(kStop));
    if (problem.empty()) continue;
    const NodeState& state = nodes_[spool->node()];
    observer_event(spool->node(), "end", state.begin, state.last, problem);
  }
  spools_.clear();
}

void Observation::heard(const std::string& node, const Json& line) {
  try {
    take(node, line);
  } catch (const Json::exception& error) {
    // A line that is not as the protocol says must not cost us the lines after it.
    stage_.note(fmt::format("the observer said: {}: {:.200}", error.what(), line.dump()), node);
  }
}

void Observation::take(const std::string& node, const Json& line) {
  const std::string kind = line.value("k", "");
  if (kind == "line") {
    log_line(node, line);
  } else if (kind == "files") {
    files(node, line);
  } else if (kind == "proc") {
    process(node, line);
  }
  coverage(node, line);
}

std::optional<journal::NodeTime> Observation::time_of(const std::string& node,
                                                      const Json& line) const {
  const auto known = nodes_.find(node);
  if (known == nodes_.end() || !line.contains("nt")) return std::nullopt;
  return journal::NodeTime{known->second.boot, line.at("nt").get<std::int64_t>()};
}

void Observation::append(const std::string& node, const Json& line, std::string kind, Json data) {
  stage_.journal.append({.kind = std::move(kind),
                         .data = std::move(data),
                         .src = "observer:" + line.value("o", std::string("all")),
                         .node = node,
                         .node_time = time_of(node, line)});
}

void Observation::log_line(const std::string& node, const Json& line) {
  const std::string id = line.value("o", "");
  const std::string text = line.value("text", "");
  const std::size_t at = id.find('@');
  const std::string log = id.substr(0, at);
  const std::string seat = at == std::string::npos ? "" : id.substr(at + 1);
  for (const SeenExit& seen : exits_.read(log, text)) {
    append(node, line, "proc",
           {{"pid", seen.pid},
            {"start", nullptr},
            {"boot", nodes_[node].boot},
            {"edge", "exited"},
            {"part", seen.part},
            {"seat", seat},
            {"exit", seen.exit}});
  }
  for (const auto& [event, pattern] : patterns_) {
    if (event->log != log) continue;
    const auto groups = pattern.match(text);
    if (!groups) continue;
    SeenEvent seen{event->name, seat, {}};
    Json fields = Json::object();
    for (const auto& [field, group] : event->fields) {
      seen.fields[field] = groups->at(static_cast<std::size_t>(group));
      fields[field] = seen.fields[field];
    }
    append(node, line, "target",
           {{"event", event->name},
            {"fields", fields},
            {"seat", seat},
            {"log", log},
            {"offset", line.value("offset", std::int64_t{0})},
            {"text", text}});
    if (event->work != scenario::Work::kNone && seen.fields.contains("item")) {
      append(node, line, "work",
             {{"item", seen.fields["item"]},
              {"seat", seat},
              {"edge", event->work == scenario::Work::kBegin ? "begin" : "end"},
              {"event", event->name}});
    }
    on_event_(seen);
  }
}

void Observation::process(const std::string& node, const Json& line) {
  Json data = Json::object();
  const auto copy = [&](const char* to, const char* from, const Json& fallback) {
    data[to] = line.contains(from) ? line.at(from) : fallback;
  };
  copy("pid", "pid", 0);
  copy("start", "start", 0);
  data["boot"] = nodes_[node].boot;
  copy("edge", "edge", "sample");
  copy("part", "part", "");
  copy("seat", "seat", "");
  copy("parent", "ppid", 0);
  copy("state", "state", "");
  copy("cpu_ms", "cpu_ms", 0);
  copy("rss_kb", "rss_kb", 0);
  copy("cmd", "cmd", "");
  copy("exit", "exit", nullptr);
  append(node, line, "proc", std::move(data));
}

void Observation::coverage(const std::string& node, const Json& line) {
  const std::string kind = line.value("k", "");
  NodeState& state = nodes_[node];
  const std::int64_t nt = line.value("nt", state.last);
  if (kind == "begin") {
    state = {line.value("boot", ""), nt, nt};
    observer_event(node, "begin", nt, nt, "");
    return;
  }
  if (nt - state.last > kGap) observer_event(node, "gap", state.last, nt, "it did not run");
  state.last = std::max(state.last, nt);
  if (kind == "end") observer_event(node, "end", state.begin, nt, "");
}

void Observation::observer_event(const std::string& node, const char* edge, std::int64_t from,
                                 std::int64_t to, const std::string& why) {
  stage_.journal.append(
      {.kind = "observer",
       .data = {{"id", "all"}, {"edge", edge}, {"from", from}, {"to", to}, {"why", why}},
       .src = "observer:all",
       .node = node,
       .node_time = journal::NodeTime{nodes_[node].boot, to}});
}

std::string Observation::items_node() const {
  const auto& target = stage_.bundle().target;
  if (!target.items) return "";
  const scenario::Folder* folder = target.folder(target.items->folder);
  for (const SeatPlan& seat : stage_.plan().seats) {
    if (folder != nullptr && seat.seat.place == folder->place) return seat.node;
  }
  return "";
}

std::string Observation::items_folder() const {
  const auto& target = stage_.bundle().target;
  const std::string node = items_node();
  if (node.empty()) return "";
  return resolved(target.folder(target.items->folder)->path,
                  stage_.bundle().lab.node(node)->scratch, "");
}

ItemFiles Observation::read_items(const Json& files) const {
  ItemFiles read;
  read.what = {{"items", Json::array()},
               {"outputs", Json::array()},
               {"partial", Json::array()},
               {"foreign", Json::array()}};
  const scenario::Items& items = *stage_.bundle().target.items;
  for (const Json& file : files) {
    const std::string path = file.at(0).get<std::string>();
    const auto state = std::ranges::find_if(
        items.states, [&](const auto& s) { return glob_matches(s.glob, path); });
    if (state != items.states.end()) {
      const auto groups = item_name_->match(path);
      const auto field = [&](const char* name) -> std::string {
        const auto known = items.fields.find(name);
        if (!groups || known == items.fields.end()) return "";
        return groups->at(static_cast<std::size_t>(known->second));
      };
      const std::string item = field("item");
      if (item.empty() || (!expected_.empty() && !expected_.contains(item))) {
        read.what["foreign"].push_back(path);
        continue;
      }
      const std::string owner = field("node");
      read.what["items"].push_back({{"item", item},
                                    {"state", state->name},
                                    {"owner", owner.empty() ? Json() : Json(owner)},
                                    {"file", path}});
      if (!read.states.emplace(item, state->name).second) read.doubled.insert(item);
      continue;
    }
    const bool partial = std::ranges::any_of(items.partial, [&](const std::string& p) {
      const auto own = in_folder_named(p, items.folder);
      return own && glob_matches(*own, path);
    });
    if (partial) {
      read.what["partial"].push_back(path);
    } else if (is_output(items, path)) {
      read.what["outputs"].push_back({{"path", path}, {"size", file.at(1)}});
    }
  }
  return read;
}

void Observation::note_states(const ItemFiles& seen, const std::string& node,
                              const std::optional<journal::NodeTime>& time) {
  for (const auto& item : seen.what["items"]) {
    const std::string name = item.at("item");
    const std::string state = item.at("state");
    if (states_[name] == state) continue;
    states_[name] = state;
    stage_.journal.append({.kind = "item",
                           .data = {{"item", name},
                                    {"state", state},
                                    {"owner", item.at("owner")},
                                    {"token", item.at("file")}},
                           .src = "observer:" + stage_.bundle().target.items->folder,
                           .node = node,
                           .node_time = time});
  }
  const auto& terminal = stage_.bundle().target.items->terminal;
  at_rest_ = !expected_.empty() && seen.doubled.empty() &&
             std::ranges::all_of(expected_, [&](const std::string& item) {
               const auto state = seen.states.find(item);
               return state != seen.states.end() &&
                      std::ranges::find(terminal, state->second) != terminal.end();
             });
}

void Observation::files(const std::string& node, const Json& line) {
  if (!stage_.bundle().target.items || node != items_node()) return;
  const bool clean = line.value("clean", false);
  const ItemFiles seen = read_items(line.at("files"));
  append(node, line, "snapshot",
         {{"when", "poll"}, {"scope", "items"}, {"clean", clean}, {"what", seen.what}});
  if (clean) note_states(seen, node, time_of(node, line));
}

void Observation::handed_in(const Json& files) {
  const ItemFiles seen = read_items(files);
  for (const auto& [item, state] : seen.states) expected_.insert(item);
  stage_.journal.append(
      {.kind = "snapshot",
       .data = {{"when", "before"}, {"scope", "items"}, {"clean", true}, {"what", seen.what}},
       .node = items_node()});
  note_states(seen, items_node(), std::nullopt);
  stage_.context.bell.ring();
}

void Observation::at_capture(const Json& files) {
  if (!files.is_array()) {
    stage_.journal.append({.kind = "snapshot",
                           .data = {{"when", "after"},
                                    {"scope", "items"},
                                    {"clean", false},
                                    {"what", Json::object()}},
                           .node = items_node()});
    return;
  }
  const ItemFiles seen = read_items(files);
  stage_.journal.append(
      {.kind = "snapshot",
       .data = {{"when", "after"}, {"scope", "items"}, {"clean", true}, {"what", seen.what}},
       .node = items_node()});
  note_states(seen, items_node(), std::nullopt);
}

}  // namespace unplug::run
