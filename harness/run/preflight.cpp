#include "run/preflight.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "base/ere.hpp"
#include "base/shell.hpp"
#include "run/lock.hpp"
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
constexpr int kClockTrips = 5;

// Both platforms; perl because no shell reads a clock finer than 10 ms without a fork.
constexpr const char* kReadClock =
    "perl -MTime::HiRes=clock_gettime -e '"
    "printf \"%.0f %.6f\\n\", clock_gettime($^O eq \"linux\" ? 7 : 6) * 1e9, Time::HiRes::time()'; "
    "cat /proc/sys/kernel/random/boot_id 2>/dev/null || sysctl -n kern.bootsessionuuid";

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

asio::awaitable<void> facts_of(Stage& stage, std::string name) {
  const Outcome outcome = co_await stage.context.node(name).ask(
      "uname -s; uname -r; uname -n; uname -m; getconf _NPROCESSORS_ONLN", within(kAsk));
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

// The narrowest of some round trips; all are journaled.
asio::awaitable<void> clock_of(Stage& stage, std::string name) {
  for (int i = 0; i < kClockTrips; ++i) {
    const auto t0 = BootClock::now().time_since_epoch().count();
    const Outcome outcome = co_await stage.context.node(name).ask(kReadClock, within(kAsk));
    const auto t1 = BootClock::now().time_since_epoch().count();
    std::istringstream text(outcome.out);
    std::int64_t nt = 0;
    std::string wall, boot;
    if (!outcome.ok() || !(text >> nt >> wall >> boot)) continue;
    stage.context.clocks.measured(name, {t0, nt, t1, boot});
    stage.journal.append({.kind = "clock",
                          .data = {{"t0", t0}, {"nt", nt}, {"nwall", wall}, {"t1", t1}},
                          .node = name,
                          .node_time = journal::NodeTime{boot, nt}});
  }
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
      co_await stage.context.node(name).exec(std::move(command), within(kScript));
  const std::string value = version_in(outcome.out, probe.match);
  stage.journal.append(
      {.kind = "version",
       .data = {{"of", probe.of},
                {"value", value.empty() ? Json() : Json(value)},
                {"how", value.empty() ? probe.run + ": " + reason(outcome) : probe.run}},
       .node = name});
  found.push_back(fmt::format("{} on {} = {}", probe.of, name, value));
}

asio::awaitable<Outcome> verb_of_lock(Context& context, std::string name, std::string verb) {
  LockHolder holder{context.run, context.bundle.lab.limits.fault_lease};
  co_return co_await lock_verb(context.node(name), verb, holder);
}

asio::awaitable<void> take_lock(Context& context, std::string name, Problems& problems) {
  const Outcome outcome = co_await verb_of_lock(context, name, "take");
  if (outcome.ok()) co_return;
  if (const auto by = locked_by(outcome)) {
    problems.push_back(fmt::format("{}: in use by run {} of {}, {} s left; wait, or use --wait 60s",
                                   name, by->run, by->owner, by->left));
  } else {
    problems.push_back(fmt::format("{}: its lock cannot be taken: {}", name, reason(outcome)));
  }
}

asio::awaitable<void> release_lock(Context& context, std::string name) {
  (void)co_await verb_of_lock(context, name, "release");
}

// After a renewal that failed: is the lock ours no more, or could it only not be written?
asio::awaitable<bool> is_lost(Context& context, std::string name) {
  const Outcome held = co_await verb_of_lock(context, name, "show");
  const bool known = held.end == Outcome::End::kExited;
  const auto by = locked_by(held);
  co_return known && (!by || by->run != context.run);
}

// Each node by itself: one that does not answer must not cost us the others' locks.
asio::awaitable<void> renew_lock(Context& context, std::string name, const bool& done) {
  const auto is_done = [&done] { return done; };
  for (;;) {
    const bool over =
        co_await until(context.bell, is_done, within(context.bundle.lab.limits.fault_lease / 3));
    if (over) co_return;
    const Outcome renewed = co_await verb_of_lock(context, name, "renew");
    bool lost = renewed.end == Outcome::End::kExited && !renewed.ok();
    if (lost) lost = co_await is_lost(context, name);
    // This machine slept past the lease, or somebody forced a heal: the node is another's now.
    if (lost) context.fail(name + ": its lock is not ours any more");
  }
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

// The task must be a named callable of the caller: GCC 12 destroys a lambda with captures inside
// a co_await expression twice.
template <class Task>
asio::awaitable<Problems> on_each(Context& context, const std::vector<std::string>& names,
                                  const Task& task) {
  Problems problems;
  std::vector<asio::awaitable<void>> tasks;
  for (const std::string& name : names) tasks.push_back(task(name, problems));
  co_await all(context.executor, std::move(tasks));
  std::ranges::sort(problems);
  co_return problems;
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

asio::awaitable<void> read_facts(Stage& stage) {
  std::vector<asio::awaitable<void>> tasks;
  for (const std::string& name : stage.plan().hosts) tasks.push_back(facts_of(stage, name));
  co_await all(stage.context.executor, std::move(tasks));
}

asio::awaitable<void> read_clocks(Stage& stage) {
  // One node after the other: another's answers in the same loop would only widen the bounds.
  for (const std::string& name : stage.plan().hosts) co_await clock_of(stage, name);
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

asio::awaitable<Problems> take_locks(Context& context, Duration wait) {
  const auto task = [&context](const std::string& name, Problems& problems) {
    return take_lock(context, name, problems);
  };
  const Deadline give_up = within(wait);
  for (;;) {
    Problems problems = co_await on_each(context, context.plan.nodes, task);
    if (problems.empty()) co_return problems;
    co_await release_locks(context);
    if (BootClock::now() >= give_up || context.stop != Stop::kNo) co_return problems;
    context.progress.now("waiting for the lock: " + problems.front());
    co_await context.bell.wait(std::min(give_up, within(std::chrono::seconds{1})));
  }
}

asio::awaitable<void> renew_locks(Context& context, const bool& done) {
  std::vector<asio::awaitable<void>> tasks;
  for (const std::string& name : context.plan.nodes) {
    tasks.push_back(renew_lock(context, name, done));
  }
  co_await all(context.executor, std::move(tasks));
}

asio::awaitable<void> release_locks(Context& context) {
  std::vector<asio::awaitable<void>> tasks;
  for (const std::string& name : context.plan.nodes) tasks.push_back(release_lock(context, name));
  co_await all(context.executor, std::move(tasks));
}

asio::awaitable<Problems> clear_leftovers(Stage& stage) {
  const auto task = [&stage](const std::string& name, Problems& problems) {
    return clear_node(stage, name, problems);
  };
  co_return co_await on_each(stage.context, stage.plan().nodes, task);
}

}  // namespace unplug::run
