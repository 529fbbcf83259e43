#include "run/run_scenario.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio.hpp>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "base/open_files.hpp"
#include "base/sha256.hpp"
#include "node/local.hpp"
#include "node/ssh_node.hpp"
#include "run/baseline.hpp"
#include "run/exercise.hpp"
#include "run/foreign.hpp"
#include "run/ledger.hpp"
#include "run/node_clocks.hpp"
#include "run/node_facts.hpp"
#include "run/node_locks.hpp"
#include "run/preflight.hpp"
#include "run/remote.hpp"

#ifndef UNPLUG_VERSION
#define UNPLUG_VERSION "unknown"
#endif

namespace unplug::run {
namespace {

namespace fs = std::filesystem;
using journal::Json;

void make_nodes(Context& context) {
  for (const std::string& name : context.plan.nodes) {
    context.nodes[name] = node::make_ssh_node(context.executor, *context.bundle.lab.node(name),
                                              context.bundle.lab.known_hosts);
  }
  if (std::ranges::find(context.plan.hosts, kController) != context.plan.hosts.end()) {
    context.nodes[kController] = node::make_local_node(context.executor, kController);
  }
}

fs::path make_folder(const fs::path& out, const std::string& scenario) {
  fs::create_directories(out);
  const std::string name = wall_stamp() + "-" + scenario;
  for (int i = 1;; ++i) {
    const fs::path folder = out / (i == 1 ? name : fmt::format("{}-{}", name, i));
    if (fs::create_directory(folder)) return folder;
  }
}

void copy_inputs(const scenario::Bundle& bundle, const fs::path& folder) {
  fs::copy_file(bundle.scenario_file, folder / "scenario.json");
  fs::copy_file(bundle.target_file, folder / "target.json");
  fs::copy_file(bundle.lab_file, folder / "lab.json");
  fs::create_directories(folder / "injectors");
  for (const auto& [name, file] : bundle.injector_files) {
    fs::copy_file(file, folder / "injectors" / (name + ".json"));
  }
}

// Nothing has been touched yet when this cannot be done.
fs::path new_folder(const scenario::Bundle& bundle, const fs::path& out) {
  try {
    const fs::path folder = make_folder(out, bundle.scenario.name);
    copy_inputs(bundle, folder);
    return folder;
  } catch (const fs::filesystem_error& error) {
    throw Error(Exit::kInternal, out.string(),
                "a run's folder cannot be written: " + error.code().message(),
                "make room there, or name another folder with --out; nothing was touched");
  }
}

Json opened(const scenario::Bundle& bundle, const Plan& plan, const RunOptions& options,
            const std::string& run) {
  Json injectors = Json::object();
  for (const auto& [name, file] : bundle.injector_files) {
    injectors[name] = folder_sha(file.parent_path());
  }
  Json seats = Json::array();
  for (const SeatPlan& seat : plan.seats) {
    seats.push_back({{"seat", seat.seat.id()}, {"node", seat.node}});
  }
  return {{"version", UNPLUG_VERSION},
          {"run", run},
          {"seed", plan.seed},
          {"argv", options.argv},
          {"embedded", bundle.lab.embedded},
          {"lab_ends", std::getenv(kLabEndsWithUs) != nullptr},
          {"controller", bundle.lab.controller},
          {"hashes",
           {{"scenario", sha256_file(bundle.scenario_file)},
            {"lab", sha256_file(bundle.lab_file)},
            {"target", folder_sha(bundle.target_file.parent_path())},
            {"injectors", std::move(injectors)}}},
          {"seats", std::move(seats)}};
}

const char* text_of(node::Session session) {
  switch (session) {
    case node::Session::kConnected:
      return "connected";
    case node::Session::kLost:
      return "lost";
    case node::Session::kReconnected:
      return "reconnected";
  }
  return "lost";
}

void journal_sessions(Stage& stage) {
  for (const auto& [name, node] : stage.context.nodes) {
    node->on_session([&stage, name = name](const node::SessionChange& change) {
      const node::Way& way = stage.context.nodes.at(name)->way();
      stage.journal.append({.kind = "session",
                            .data = {{"state", text_of(change.session)},
                                     {"why", change.why},
                                     {"transport", way.transport},
                                     {"because", way.because},
                                     {"place", way.place}},
                            .node = name});
      stage.context.bell.ring();
    });
  }
}

// A signal stops the run and heals. A second one changes nothing: healing is never skipped.
class Signals {
 public:
  explicit Signals(Context& context)
      : context_(context), set_(context.executor, SIGINT, SIGTERM, SIGHUP) {
    wait();
  }
  void cancel() { set_.cancel(); }

 private:
  void wait() {
    set_.async_wait([this](boost::system::error_code error, int number) {
      if (error) return;
      const bool first = context_.stop == Stop::kNo;
      if (first) {
        context_.stop = Stop::kInterrupted;
        context_.why_stopped = fmt::format("signal {}", number);
      }
      context_.progress.fact(
          "stop", first ? "interrupted: healing first" : "still healing; it is never skipped");
      context_.bell.ring();
      wait();
    });
  }

  Context& context_;
  asio::signal_set set_;
};

using Problems = std::vector<std::string>;

class Run {
 public:
  Run(Context& context, Stage& stage, const RunOptions& options)
      : context_(context), stage_(stage), options_(options) {}

  asio::awaitable<void> go(RunOutcome& outcome) {
    Ending ending;
    try {
      outcome.refused = co_await preflight();
      if (!outcome.refused.empty()) {
        ending.reason = "preflight";
        ending.why = outcome.refused.front();
      } else if (holds_locks_) {
        ending = co_await locked();
      }
      if (!ending.problems.empty()) outcome.refused = ending.problems;
      outcome.stranded = ending.stranded;
    } catch (const std::exception& error) {
      context_.fail(error.what());
    }
    close(ending);
    for (const auto& [name, node] : context_.nodes) node->close();
  }

 private:
  void phase(const char* edge) {
    stage_.journal.append({.kind = "phase", .data = {{"name", "preflight"}, {"edge", edge}}});
  }

  asio::awaitable<Problems> preflight() {
    phase("begin");
    context_.progress.now("reaching the nodes");
    Problems problems = co_await reach(context_);
    if (problems.empty()) problems = co_await check_markers(context_);
    if (problems.empty() && context_.stop == Stop::kNo) {
      co_await read_facts(stage_);
      co_await read_clocks(stage_);
      context_.versions = co_await read_versions(stage_);
      problems = co_await take_locks(context_, options_.wait);
      holds_locks_ = problems.empty();
    }
    phase("end");
    // What a run that was stopped could not see is no reason to refuse it.
    if (context_.stop != Stop::kNo) problems.clear();
    if (holds_locks_) tell_reached();
    co_return problems;
  }

  void tell_reached() {
    std::int64_t error = 0;
    for (const std::string& name : context_.plan.nodes) {
      error = std::max(error, context_.clocks.error(name).value_or(0));
    }
    context_.progress.fact("preflight",
                           fmt::format("{} nodes reached, clocks known to ±{}",
                                       context_.plan.nodes.size(), for_people(Duration{error})));
  }

  // Everything that is done while the lock is held.
  asio::awaitable<Ending> locked() {
    bool done = false;
    Ending ending;
    std::vector<asio::awaitable<void>> tasks;
    tasks.push_back(renew_locks(context_, done));
    tasks.push_back(work(ending, done));
    co_await all(context_.executor, std::move(tasks));
    co_await release_locks(context_);
    co_return ending;
  }

  asio::awaitable<void> work(Ending& ending, bool& done) {
    try {
      const bool wanted = context_.stop == Stop::kNo;
      if (wanted) ending.problems = co_await clear_leftovers(stage_);
      if (wanted && ending.problems.empty()) ending.problems = co_await refuse_foreign();
      if (context_.stop != Stop::kNo) ending.problems.clear();  // what could not be seen any more
      if (!ending.problems.empty()) {
        ending.reason = "preflight";
        ending.why = ending.problems.front();
      } else if (wanted) {
        ending = co_await both();
      }
    } catch (const std::exception& error) {
      // Our own bug: guards undo by themselves at the end of their leases.
      context_.fail(error.what());
    }
    done = true;
    context_.bell.ring();
  }

  // Before the baseline, which would be a run like any other to what is there.
  asio::awaitable<Problems> refuse_foreign() {
    ForeignWork foreign(stage_);
    co_return co_await foreign.look();
  }

  asio::awaitable<Ending> both() {
    const Baseline undisturbed = co_await baseline(stage_);
    context_.progress.fact(
        "baseline",
        undisturbed.passed
            ? fmt::format("undisturbed in {}{}", for_people(undisturbed.took),
                          undisturbed.fresh ? ", kept for the next runs" : " (kept earlier)")
            : "FAILED: " + undisturbed.why);
    if (context_.stop != Stop::kNo) co_return Ending{};
    Ending ending = co_await exercise(stage_, context_.plan);
    if (ending.problems.empty()) {
      context_.progress.fact("target", how_it_ended(ending));
    }
    co_return ending;
  }

  std::string how_it_ended(const Ending& ending) const {
    if (ending.at_rest) return "at rest after " + for_people(ending.took);
    if (context_.stop != Stop::kNo) return "not at rest when the run was stopped";
    return ending.reason == "limit" ? ending.why : "not at rest: " + ending.why;
  }

  void close(const Ending& ending) {
    std::string reason = ending.reason;
    std::string why = ending.why;
    if (context_.stop != Stop::kNo) {
      reason = context_.stop == Stop::kInterrupted ? "interrupted" : "internal";
      why = context_.why_stopped;
    }
    stage_.journal.append({.kind = "run_closed", .data = {{"reason", reason}, {"why", why}}});
    stage_.journal.sync();
  }

  Context& context_;
  Stage& stage_;
  const RunOptions& options_;
  bool holds_locks_ = false;
};

}  // namespace

RunOutcome run_scenario(const scenario::Bundle& bundle, const Plan& plan, const RunOptions& options,
                        Progress& progress) {
  RunOutcome outcome;
  need_open_files_for(plan.nodes.size());
  outcome.folder = new_folder(bundle, options.out);
  asio::io_context io(1);
  Context context(bundle, plan, io.get_executor(), progress);
  context.run = outcome.folder.filename().string();
  context.folder = outcome.folder;
  context.patch = options.patch;
  make_nodes(context);
  Ledger journal(outcome.folder / "journal.jsonl",
                 [&context](const std::string& why) { context.fail(why); });
  Stage stage{context, journal, context.run, false, outcome.folder};
  journal.append({.kind = "run_opened", .data = opened(bundle, plan, options, context.run)});
  journal.sync();
  journal_sessions(stage);
  Signals signals(context);
  Run run(context, stage, options);
  asio::co_spawn(io, run.go(outcome), [&](std::exception_ptr error) {
    signals.cancel();
    if (error) std::rethrow_exception(error);
  });
  io.run();
  outcome.interrupted = context.stop == Stop::kInterrupted;
  if (context.stop == Stop::kInternal) {
    const std::string heal = "`unplug heal --lab " + bundle.lab_file.string() + "`";
    throw Error(outcome.stranded ? Exit::kUnhealed : Exit::kInternal, outcome.folder.string(),
                context.why_stopped,
                outcome.stranded ? "and something is STILL BROKEN on a node; undo it with " + heal
                                 : "what was broken has been undone, or its guard undoes it within "
                                   "its lease; look with " +
                                       heal);
  }
  return outcome;
}

Problems probe_lab(const scenario::Bundle& bundle, const Plan& plan, Progress& progress) {
  need_open_files_for(plan.nodes.size());
  asio::io_context io(1);
  Context context(bundle, plan, io.get_executor(), progress);
  make_nodes(context);
  Problems problems;
  const auto look = [](Context& lab, Problems& found) -> asio::awaitable<void> {
    found = co_await reach(lab);
    if (found.empty()) {
      found = co_await check_markers(lab);
      Problems unable = co_await probe(lab);
      std::ranges::move(unable, std::back_inserter(found));
    }
    for (const auto& [name, node] : lab.nodes) node->close();
  };
  asio::co_spawn(io, look(context, problems), [](std::exception_ptr error) {
    if (error) std::rethrow_exception(error);
  });
  io.run();
  return problems;
}

}  // namespace unplug::run
