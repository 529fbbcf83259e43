#include "run/node_facts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "base/ere.hpp"
#include "run/remote.hpp"

namespace unplug::run {
namespace {

using journal::Json;
using node::Outcome;

constexpr std::chrono::seconds kAskFacts{5};
constexpr std::chrono::seconds kAskVersion{20};

asio::awaitable<void> facts_of(Stage& stage, std::string name) {
  const Outcome outcome = co_await stage.context.node(name).ask(
      "uname -s; uname -r; uname -n; uname -m; getconf _NPROCESSORS_ONLN", within(kAskFacts));
  std::istringstream lines(outcome.out);
  std::string system, kernel, host, machine, cores;
  std::getline(lines, system);
  std::getline(lines, kernel);
  std::getline(lines, host);
  std::getline(lines, machine);
  std::getline(lines, cores);
  stage.context.machines[name] = fmt::format("{} {} {} {}", system, kernel, machine, cores);
  stage.journal.append({.kind = "facts",
                        .data = {{"platform", system == "Darwin" ? "darwin" : "linux"},
                                 {"kernel", kernel},
                                 {"hostname", host},
                                 {"machine", machine},
                                 {"cores", cores}},
                        .node = name});
}

// The first line that matches, by its first group.
std::string version_in(const std::string& text, const std::string& pattern) {
  const Ere expression(pattern);
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const auto groups = expression.match(line);
    if (groups) return groups->size() > 1 ? groups->at(1) : groups->at(0);
  }
  return "";
}

asio::awaitable<void> version_of(Stage& stage, const scenario::VersionProbe& probe,
                                 std::string name, std::vector<std::string>& found) {
  node::Command command(probe.run);
  const Outcome outcome =
      co_await stage.context.node(name).exec(std::move(command), within(kAskVersion));
  const std::string value = version_in(outcome.out, probe.match);
  stage.journal.append(
      {.kind = "version",
       .data = {{"of", probe.of},
                {"value", value.empty() ? Json() : Json(value)},
                {"how", value.empty() ? probe.run + ": " + reason(outcome) : probe.run}},
       .node = name});
  found.push_back(fmt::format("{} on {} = {}", probe.of, name, value));
}

}  // namespace

asio::awaitable<void> read_facts(Stage& stage) {
  std::vector<asio::awaitable<void>> tasks;
  for (const std::string& name : stage.plan().hosts) tasks.push_back(facts_of(stage, name));
  co_await all(stage.context.executor, std::move(tasks));
}

asio::awaitable<std::vector<std::string>> read_versions(Stage& stage) {
  std::vector<std::string> found;
  std::vector<asio::awaitable<void>> tasks;
  for (const scenario::VersionProbe& probe : stage.bundle().target.versions) {
    std::set<std::string> nodes;
    for (const SeatPlan& seat : stage.plan().seats) {
      if (probe.place == "all" || seat.seat.place == probe.place) nodes.insert(seat.node);
    }
    for (const std::string& name : nodes) tasks.push_back(version_of(stage, probe, name, found));
  }
  co_await all(stage.context.executor, std::move(tasks));
  std::ranges::sort(found);
  co_return found;
}

}  // namespace unplug::run
