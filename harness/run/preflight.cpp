#include "run/preflight.hpp"

#include <fmt/format.h>

#include <sstream>

#include "base/shell.hpp"
#include "run/on_each.hpp"
#include "run/remote.hpp"
#include "run/upload.hpp"

namespace unplug::run {
namespace {

using journal::Json;
using node::Outcome;
using Problems = std::vector<std::string>;

constexpr std::chrono::seconds kAsk{5};
constexpr std::chrono::seconds kScript{20};
constexpr std::chrono::seconds kRemoveRun{60};  // the target's own `remove` of every seat is in it

asio::awaitable<void> reach_one(Context& context, std::string name, Problems& problems) {
  const auto node = context.nodes.at(name);
  const auto connect = [node] { return node->connect(within(kConnect)); };
  const Outcome outcome = co_await unless_stopped(context, connect);
  if (!outcome.ok()) problems.push_back(fmt::format("{}: {}", name, outcome.why));
  const node::Way& way = node->way();
  if (outcome.ok() && way.transport == "ssh") {
    context.progress.fact(name, "reached by the ssh program: " + way.because);
  }
}

asio::awaitable<void> check_marker(Context& context, std::string name, Problems& problems) {
  const Outcome outcome = co_await context.node(name).ask(
      "head -n 1 ~/.config/unplug/lab 2>/dev/null; :", within(kAsk));
  std::string first = outcome.out;
  while (!first.empty() && first.back() == '\n') first.pop_back();
  const std::string& lab = context.bundle.lab.name;
  if (!outcome.ok()) {
    problems.push_back(fmt::format("{}: {}", name, reason(outcome)));
  } else if (first != lab) {
    problems.push_back(fmt::format(
        "{}: it has not opted in to lab \"{}\" ({}); on it: mkdir -p ~/.config/unplug && echo {} "
        "> ~/.config/unplug/lab",
        name, lab, first.empty() ? "no marker" : "its marker says \"" + first + "\"",
        shell_quoted(lab)));
  }
}

// How a probe reaches its node: by the run's folder, or, when there is none, on the stdin of sh.
asio::awaitable<Outcome> ask_probe(Context& context, Stage* stage, Call what) {
  const auto node = context.nodes.at(what.node);
  node::Command command("sh -s", "");
  if (stage != nullptr) {
    command = node::Command(in_folder(*stage, what.line()));
  } else {
    command.input = probe_script(context.bundle, what);
  }
  const auto ask = [node, command] { return node->exec(command, within(kScript)); };
  co_return co_await unless_stopped(context, ask);
}

asio::awaitable<void> probe_role(Context& context, Stage* stage, Call what, Problems& problems) {
  const Outcome outcome = co_await ask_probe(context, stage, what);
  if (outcome.ok()) co_return;
  const bool exited = outcome.end == Outcome::End::kExited;
  const char* how = exited && outcome.status == 3   ? "is unsupported here"
                    : exited && outcome.status == 4 ? "lacks a privilege"
                                                    : "cannot be probed";
  problems.push_back(fmt::format("{}: {} {}: {}", what.node, what.name, how, reason(outcome)));
}

// docs/semantics.md, What an injector declares: who boots with such a fault has nobody to undo it.
asio::awaitable<void> look_for_sweep(Context& context, const FaultPlan& fault, Problems& problems) {
  const std::string& name = fault.actor().node;
  const Outcome outcome = co_await context.node(name).ask(
      "[ -e ~/.config/unplug/boot-sweep ] && echo installed; :", within(kAsk));
  if (outcome.out == "installed\n") co_return;
  problems.push_back(fmt::format(
      "{}: {} outlives a reboot, and no boot sweep is installed there to undo it; if a hand can, "
      "write \"allow_without_boot_sweep\": true in the lab file",
      name, fault.injector));
}

asio::awaitable<Problems> probe_all(Context& context, Stage* stage) {
  Problems problems;
  std::vector<asio::awaitable<void>> tasks;
  for (const FaultPlan& fault : context.plan.faults) {
    const bool wanted = fault.survives_reboot && !context.bundle.lab.allow_without_boot_sweep;
    if (wanted) tasks.push_back(look_for_sweep(context, fault, problems));
    for (const RolePlan& role : fault.roles) {
      tasks.push_back(probe_role(context, stage, fault.call(role, "probe"), problems));
    }
  }
  co_await all(context.executor, std::move(tasks));
  co_return problems;
}

// A node's lines of heal.sh, as JSON objects.
std::vector<Json> json_lines(const std::string& text) {
  std::vector<Json> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    auto parsed = Json::parse(line, nullptr, false);
    if (parsed.is_object()) lines.push_back(std::move(parsed));
  }
  return lines;
}

asio::awaitable<void> clear_node(Stage& stage, std::string name, Problems& problems) {
  node::Node& node = stage.context.node(name);
  const Outcome runs = co_await node.ask(kListRuns, within(kAsk));
  std::istringstream names(runs.out);
  for (std::string run; std::getline(names, run);) {
    stage.note("an earlier run was left here: " + run, name);
    const std::string script = node_script("heal.sh");
    const Outcome undo =
        co_await node.exec(node::Command("sh -s -- undo " + shell_quoted(run), script),
                           within(std::chrono::seconds{90}));
    bool clean = undo.ok();
    for (const Json& line : json_lines(undo.out)) clean = clean && line.value("left", 0) == 0;
    if (clean) {
      const Outcome removed = co_await node.exec(
          node::Command("sh -s -- remove " + shell_quoted(run), script), within(kRemoveRun));
      clean = removed.ok();
    }
    if (!clean) {
      problems.push_back(fmt::format(
          "{}: run {} left something that cannot be undone ({}); run `unplug heal --lab {}`", name,
          run, reason(undo), stage.bundle().lab_file.string()));
    }
  }
}

}  // namespace

asio::awaitable<Problems> reach(Context& context) {
  const auto task = [&context](const std::string& name, Problems& problems) {
    return reach_one(context, name, problems);
  };
  co_return co_await on_each(context, context.plan.hosts, task);
}

asio::awaitable<Problems> check_markers(Context& context) {
  const auto task = [&context](const std::string& name, Problems& problems) {
    return check_marker(context, name, problems);
  };
  co_return co_await on_each(context, context.plan.nodes, task);
}

asio::awaitable<Problems> probe(Context& context) { return probe_all(context, nullptr); }

asio::awaitable<Problems> probe(Stage& stage) { return probe_all(stage.context, &stage); }

asio::awaitable<Problems> clear_leftovers(Stage& stage) {
  const auto task = [&stage](const std::string& name, Problems& problems) {
    return clear_node(stage, name, problems);
  };
  co_return co_await on_each(stage.context, stage.plan().nodes, task);
}

}  // namespace unplug::run
