#include "run/foreign.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "base/shell.hpp"
#include "run/remote.hpp"
#include "run/upload.hpp"

namespace unplug::run {
namespace {

using journal::Json;
using node::Outcome;

constexpr std::chrono::seconds kFind{20};
constexpr std::chrono::seconds kHashAll{60};
constexpr std::size_t kNamed = 5;  // in a message

// Reads paths, says "SHA PATH" of those that it can read.
constexpr const char* kHashThem =
    "s='shasum -a 256'; ! command -v sha256sum >/dev/null 2>&1 || s=sha256sum; "
    "while IFS= read -r f; do { h=$($s <\"./$f\"); } 2>/dev/null && "
    "printf '%s %s\\n' \"${h%% *}\" \"$f\"; done; :";

std::string some_names(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), kNamed); ++i) {
    text += (i == 0 ? "" : ", ") + names[i];
  }
  return names.size() > kNamed ? fmt::format("{} and {} more", text, names.size() - kNamed) : text;
}

std::vector<std::string> paths_of(const ItemFiles& read) {
  std::vector<std::string> paths;
  for (const Json& item : read.what["items"]) paths.push_back(item.at("file"));
  for (const Json& output : read.what["outputs"]) paths.push_back(output.at("path"));
  for (const char* list : {"partial", "foreign"}) {
    for (const Json& path : read.what[list]) paths.push_back(path);
  }
  std::ranges::sort(paths);
  return paths;
}

// "items:queue/a.job" -> ["queue/a.job", 0]; folders end in "/" and are no work.
Json listed_files(const Json& listed) {
  Json files = Json::array();
  for (const Json& file : listed.at("files")) {
    const std::string path = file.get<std::string>();
    if (!path.ends_with('/')) files.push_back({path.substr(path.find(':') + 1), 0});
  }
  return files;
}

}  // namespace

asio::awaitable<std::vector<std::string>> ForeignWork::look() {
  found_.clear();
  items_.clear();
  std::vector<std::string> problems;
  std::vector<asio::awaitable<void>> tasks;
  for (const std::string& node : stage_.plan().nodes) tasks.push_back(look_at(node, problems));
  co_await all(stage_.context.executor, std::move(tasks));
  std::ranges::sort(problems);
  co_return problems;
}

asio::awaitable<void> ForeignWork::look_at(std::string node, std::vector<std::string>& problems) {
  std::string why;
  if (node == folder_.node()) why = co_await find_files(node);
  if (why.empty()) why = co_await find_processes(node);
  if (!why.empty()) {
    problems.push_back(fmt::format("{}: whether others work here cannot be seen: {}", node, why));
  }
  for (std::string& refusal : refusals(node)) problems.push_back(std::move(refusal));
}

asio::awaitable<Outcome> ForeignWork::ask(std::string name, std::string line) {
  const auto node = stage_.context.nodes.at(name);
  const node::Command command(line, node_script("observe.pl"));
  const auto look = [node, command] { return node->exec(command, within(kFind)); };
  co_return co_await unless_stopped(stage_.context, look);
}

asio::awaitable<std::string> ForeignWork::find_files(std::string node) {
  const std::string line = "perl - files items=" + shell_quoted(folder_.path());
  const Outcome outcome = co_await ask(node, line);
  const Json listed = last_json(outcome.out);
  if (!outcome.ok() || !listed.is_object() || !listed.contains("files")) co_return reason(outcome);
  const ItemFiles read = folder_.read(listed_files(listed), {}, {});
  for (const auto& [item, state] : read.states) items_.insert(item);
  const std::vector<std::string> paths = paths_of(read);
  if (!paths.empty()) found_[node].files = paths;
  co_return "";
}

asio::awaitable<std::string> ForeignWork::find_processes(std::string node) {
  std::string line = "perl - works";
  for (const scenario::Folder& folder : stage_.bundle().target.folders) {
    line += " " + shell_quoted(resolved(folder.path, stage_.bundle().lab.node(node)->scratch, ""));
  }
  const Outcome outcome = co_await ask(node, line);
  const Json seen = last_json(outcome.out);
  if (!outcome.ok() || !seen.is_object() || !seen.contains("processes")) co_return reason(outcome);
  if (!seen.at("processes").empty()) found_[node].processes = seen.at("processes");
  co_return "";
}

std::vector<std::string> ForeignWork::refusals(const std::string& node) const {
  std::vector<std::string> all;
  const auto found = found_.find(node);
  if (found == found_.end() || stage_.bundle().lab.allow_foreign) return all;
  const std::string allow = fmt::format("or, if it may stay, write \"allow_foreign\": true in {}",
                                        stage_.bundle().lab_file.string());
  if (!found->second.files.empty()) {
    all.push_back(
        fmt::format("{}: {} holds work that this run did not create: {}; move it away, {}", node,
                    folder_.path(), some_names(found->second.files), allow));
  }
  for (const Json& process : found->second.processes) {
    all.push_back(fmt::format(
        "{}: process {} ({:.80}) works in the target's folders, and is none of ours; end it, {}",
        node, process.at("pid").get<std::int64_t>(), process.at("cmd").get<std::string>(), allow));
  }
  return all;
}

asio::awaitable<void> ForeignWork::journal(std::string when) {
  std::vector<asio::awaitable<void>> tasks;
  for (const auto& [node, found] : found_) tasks.push_back(journal_node(node, when));
  co_await all(stage_.context.executor, std::move(tasks));
}

asio::awaitable<void> ForeignWork::journal_node(std::string node, std::string when) {
  const Found& found = found_.at(node);
  std::string words;
  for (const Json& process : found.processes) {
    words += fmt::format(" {}:{}", process.at("pid").get<std::int64_t>(),
                         process.at("start").get<std::int64_t>());
  }
  const std::string script = node_script("observe.pl");
  const Outcome alive = co_await stage_.context.node(node).exec(
      node::Command("perl - works" + words, script), within(kFind));
  std::string paths;
  for (const std::string& path : found.files) paths += path + "\n";
  Outcome hashed;
  const std::string line = "cd " + shell_quoted(folder_.path()) + " && { " + kHashThem + "; }";
  if (!paths.empty()) {
    hashed = co_await stage_.context.node(node).exec(node::Command(line, paths), within(kHashAll));
  }
  Json what = last_json(alive.out);
  const bool clean = alive.ok() && what.is_object() && (paths.empty() || hashed.ok());
  if (!what.is_object()) what = Json::object();
  what["files"] = Json::array();
  std::istringstream lines(hashed.out);
  for (std::string sha, path; lines >> sha && std::getline(lines, path);) {
    what["files"].push_back({{"path", path.substr(1)}, {"sha", sha}});
  }
  if (!clean) what["why"] = alive.ok() ? reason(hashed) : reason(alive);
  stage_.journal.append(
      {.kind = "snapshot",
       .data = {{"when", when}, {"scope", "foreign"}, {"clean", clean}, {"what", std::move(what)}},
       .node = node});
}

}  // namespace unplug::run
