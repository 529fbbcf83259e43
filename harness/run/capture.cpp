#include "run/capture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "base/sha256.hpp"
#include "base/shell.hpp"
#include "base/write_file.hpp"
#include "run/item_paths.hpp"
#include "run/remote.hpp"

namespace unplug::run {
namespace {

using journal::Json;
using node::Outcome;

constexpr std::chrono::seconds kList{10};
constexpr std::chrono::seconds kHash{60};
constexpr std::chrono::seconds kFetch{30};
constexpr int kReads = 5;  // docs/semantics.md, Conservation: until two reads agree, at most 5

// "share=/scratch/farm work=/scratch/work" of the seats on a node.
std::string folders_on(const Stage& stage, const std::string& node) {
  std::set<std::string> words;
  for (const scenario::Folder& folder : stage.bundle().target.folders) {
    for (const SeatPlan& seat : stage.plan().seats) {
      if (seat.node != node || seat.seat.place != folder.place) continue;
      words.insert(shell_quoted(
          folder.name + "=" +
          resolved(folder.path, stage.bundle().lab.node(node)->scratch, seat.seat.id())));
    }
  }
  std::string text;
  for (const std::string& word : words) text += " " + word;
  return text;
}

asio::awaitable<void> snapshot(Stage& stage, std::string node, std::string scope,
                               std::string when) {
  std::string line = "sh sh/observe.sh " + scope;
  if (scope == "files") line += folders_on(stage, node);
  const Outcome outcome =
      co_await stage.context.node(node).exec(node::Command(in_folder(stage, line)), within(kList));
  Json what = last_json(outcome.out);
  const bool clean = outcome.ok() && what.is_object();
  if (!clean) what = {{"why", reason(outcome)}};
  stage.journal.append(
      {.kind = "snapshot",
       .data = {{"when", when}, {"scope", scope}, {"clean", clean}, {"what", std::move(what)}},
       .node = node});
}

asio::awaitable<void> snapshot_everywhere(Stage& stage, std::string scope, std::string when) {
  std::vector<asio::awaitable<void>> tasks;
  for (const std::string& node : stage.plan().nodes) {
    tasks.push_back(snapshot(stage, node, scope, when));
  }
  co_await all(stage.context.executor, std::move(tasks));
}

asio::awaitable<std::optional<std::string>> read_items_once(Stage& stage, std::string node,
                                                            std::string folder) {
  const std::string line = "sh sh/observe.sh files items=" + shell_quoted(folder);
  const Outcome outcome =
      co_await stage.context.node(node).exec(node::Command(in_folder(stage, line)), within(kList));
  if (!outcome.ok()) co_return std::nullopt;
  co_return outcome.out;
}

// "items:queue/a.job" -> ["queue/a.job", 0].
Json without_name(const std::string& text) {
  Json files = Json::array();
  const Json listed = last_json(text);
  if (!listed.is_object() || !listed.contains("files")) return nullptr;
  for (const Json& file : listed.at("files")) {
    const std::string path = file.get<std::string>();
    files.push_back({path.substr(path.find(':') + 1), 0});
  }
  return files;
}

struct Hashed {
  std::string sha;
  std::int64_t size = 0;
};

asio::awaitable<std::optional<Hashed>> hash_file(Stage& stage, std::string node, std::string path) {
  const std::string file = shell_quoted(path);
  const Outcome outcome = co_await stage.context.node(node).exec(
      node::Command(fmt::format(
          "{{ sha256sum <{0} 2>/dev/null || shasum -a 256 <{0}; }} && wc -c <{0}", file)),
      within(kHash));
  std::istringstream text(outcome.out);
  Hashed hashed;
  std::string dash;
  if (!outcome.ok() || !(text >> hashed.sha >> dash >> hashed.size)) co_return std::nullopt;
  co_return hashed;
}

bool wants_frames(const scenario::Scenario& scenario) {
  return std::ranges::any_of(
      scenario.expect, [](const auto& e) { return e.check == "output" && e.compare == "frames"; });
}

// The decoded frames' hash, by the target's own verb; null when it has none or cannot.
asio::awaitable<Json> frames_of(Stage& stage, std::string path) {
  for (auto& group : target_calls(stage.bundle(), stage.plan(), "frames", {path})) {
    const Outcome outcome = co_await call(stage, group.front(), within(group.front().within));
    const Json said = last_json(outcome.out);
    if (outcome.ok() && said.is_object() && said.contains("frames")) co_return said.at("frames");
  }
  co_return nullptr;
}

asio::awaitable<bool> capture_file(Stage& stage, std::string node, std::string folder,
                                   std::string item, std::string path) {
  const std::string full = folder + "/" + path;
  const auto hashed = co_await hash_file(stage, node, full);
  if (!hashed) co_return false;
  Json frames = nullptr;
  if (wants_frames(stage.bundle().scenario)) frames = co_await frames_of(stage, full);
  stage.journal.append({.kind = "file",
                        .data = {{"role", "output"},
                                 {"item", item},
                                 {"path", path},
                                 {"sha", hashed->sha},
                                 {"size", hashed->size},
                                 {"frames", frames},
                                 {"ref", nullptr}},
                        .node = node});
  co_return true;
}

// Each of the paths that is there; an item has at least one of them.
asio::awaitable<void> capture_output(Stage& stage, std::string node, std::string folder,
                                     std::string item, scenario::OutputPaths paths) {
  bool found = false;
  for (std::string& path : paths) {
    path = with_item(path, item);
    const bool there = co_await capture_file(stage, node, folder, item, path);
    found = found || there;
  }
  if (!found) stage.note(fmt::format("output {} cannot be read", fmt::join(paths, " or ")), node);
}

asio::awaitable<void> fetch(Stage& stage, std::string node, std::string path, std::string role) {
  const Outcome outcome = co_await stage.context.node(node).exec(
      node::Command(in_folder(stage, "cat " + shell_quoted(path))), within(kFetch));
  if (!outcome.ok()) co_return;
  std::string flat = path;
  std::ranges::replace(flat, '/', '.');
  const std::filesystem::path ref = std::filesystem::path("files") / node / flat;
  std::filesystem::create_directories((stage.folder / ref).parent_path());
  write_file(stage.folder / ref, outcome.out);
  stage.journal.append({.kind = "file",
                        .data = {{"role", role},
                                 {"item", nullptr},
                                 {"path", path},
                                 {"sha", sha256(outcome.out)},
                                 {"size", outcome.out.size()},
                                 {"frames", nullptr},
                                 {"ref", ref.string()}},
                        .node = node});
}

asio::awaitable<void> collect_from(Stage& stage, std::string node) {
  const Outcome listed = co_await stage.context.node(node).exec(
      node::Command(in_folder(stage,
                              "for f in logs/* */guard.log spool/observed; do [ -f \"$f\" ] && "
                              "echo \"$f\"; done; :")),
      within(kList));
  std::istringstream names(listed.out);
  for (std::string path; std::getline(names, path);) {
    const std::string role = path.ends_with("guard.log") ? "guard_log" : "log";
    co_await fetch(stage, node, path, role);
  }
}

}  // namespace

asio::awaitable<void> snapshot_files(Stage& stage, std::string when) {
  return snapshot_everywhere(stage, "files", std::move(when));
}

asio::awaitable<void> snapshot_system(Stage& stage, std::string when) {
  return snapshot_everywhere(stage, "system", std::move(when));
}

asio::awaitable<Json> list_items(Stage& stage, const Observation& observation) {
  const std::string node = observation.folder().node();
  if (node.empty()) co_return nullptr;
  std::optional<std::string> last;
  for (int i = 0; i < kReads; ++i) {
    auto read = co_await read_items_once(stage, node, observation.folder().path());
    if (!read) co_return nullptr;
    if (last == read) co_return without_name(*read);
    last = std::move(read);
  }
  stage.note("the items' folder kept changing: torn", node);
  co_return nullptr;
}

asio::awaitable<void> capture_outputs(Stage& stage, const Observation& observation) {
  const std::string node = observation.folder().node();
  if (node.empty()) co_return;
  const auto& items = *stage.bundle().target.items;
  std::vector<asio::awaitable<void>> tasks;
  for (const auto& [item, state] : observation.items()) {
    const auto outputs = items.outputs.find(state);
    if (outputs == items.outputs.end()) continue;
    for (const scenario::OutputPaths& paths : outputs->second) {
      tasks.push_back(capture_output(stage, node, observation.folder().path(), item, paths));
    }
  }
  co_await all(stage.context.executor, std::move(tasks));
}

asio::awaitable<void> run_commands(Stage& stage) {
  for (const Call& command : command_calls(stage.bundle(), stage.plan())) {
    (void)co_await act(stage, command);
  }
}

asio::awaitable<void> collect_logs(Stage& stage) {
  std::vector<asio::awaitable<void>> tasks;
  for (const std::string& node : stage.plan().nodes) tasks.push_back(collect_from(stage, node));
  co_await all(stage.context.executor, std::move(tasks));
}

}  // namespace unplug::run
