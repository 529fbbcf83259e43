#include "run/exercise.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio.hpp>

#include "base/shell.hpp"
#include "run/capture.hpp"
#include "run/faults.hpp"
#include "run/foreign.hpp"
#include "run/node_clocks.hpp"
#include "run/observation.hpp"
#include "run/preflight.hpp"
#include "run/remote.hpp"
#include "run/upload.hpp"

namespace unplug::run {
namespace {

using std::chrono::seconds;

// docs/semantics.md, Recover: the default of settle is outage x 2 + 10 s.
constexpr seconds kSettle{10};
constexpr seconds kRemove{30};
constexpr seconds kBreakWithin{20};

class Exercise {
 public:
  Exercise(Stage& stage, const Plan& plan)
      : stage_(stage),
        faults_(stage, plan),
        observation_(stage, [this](const SeenEvent& seen) { faults_.event(seen); }),
        foreign_(stage),
        outage_(plan.outage) {}

  asio::awaitable<Ending> run() {
    co_await step(deploy());
    if (goes_on()) co_await step(start());
    if (goes_on()) co_await step(disturb());
    no_more_events_ = true;
    stage_.context.bell.ring();
    co_await join_early();
    co_await step(faults_.disarm_rest("the run did not get there"));
    if (deployed_) co_await step(capture());
    if (deploying_) co_await step(stop());
    if (!faults_.stranded()) co_await step(clear());
    if (deploying_) co_await step(foreign_.journal("after"));
    ending_.stranded = faults_.stranded();
    co_return ending_;
  }

 private:
  // An event at each edge, so that a broken-off journal says in which phase it broke.
  void phase(const char* name, const char* edge) {
    stage_.journal.append({.kind = "phase", .data = {{"name", name}, {"edge", edge}}});
    if (edge[0] == 'b') stage_.context.progress.now(name);
  }

  // The first trouble names the ending; later ones are notes.
  void trouble(const std::string& reason, const std::string& why) {
    if (!ending_.why.empty()) {
      stage_.note(why);
      return;
    }
    ending_.reason = reason;
    ending_.why = why;
  }

  bool stopped() const { return stage_.context.stop != Stop::kNo; }

  bool goes_on() const { return ending_.why.empty() && !stopped(); }

  // A bug of ours in one step must not keep the later ones from healing.
  asio::awaitable<void> step(asio::awaitable<void> work) {
    try {
      co_await std::move(work);
    } catch (const std::exception& error) {
      stage_.context.fail(error.what());
    }
  }

  asio::awaitable<void> deploy() {
    std::vector<asio::awaitable<void>> uploads;
    for (const std::string& host : stage_.plan().hosts) uploads.push_back(upload_to(host));
    co_await all(stage_.context.executor, std::move(uploads));
    if (ending_.problems.empty() && !faults_.empty()) ending_.problems = co_await probe(stage_);
    if (ending_.problems.empty()) ending_.problems = co_await foreign_.look();
    observation_.leave_alone(foreign_.items());
    if (stopped()) ending_.problems.clear();  // what could not be seen any more
    if (!ending_.problems.empty()) {
      ending_.reason = "preflight";
      ending_.why = ending_.problems.front();
    }
    if (!goes_on()) co_return;
    co_await snapshot_files(stage_, "before");
    co_await snapshot_system(stage_, "before");
    co_await foreign_.journal("before");
    if (stopped()) co_return;
    phase("deploy", "begin");
    deploying_ = true;
    const std::string problem = co_await target_verb(stage_, "deploy");
    phase("deploy", "end");
    deployed_ = problem.empty();
    if (!deployed_) trouble("target", problem);
  }

  asio::awaitable<void> upload_to(std::string node) {
    const std::string problem = co_await upload(stage_, node);
    if (!problem.empty()) ending_.problems.push_back(problem);
  }

  // Faults `before start` are in effect before any process of the target exists; they live on
  // beside everything that follows.
  asio::awaitable<void> start() {
    phase("start", "begin");
    faults_.journal_planned();
    std::string problem = co_await observation_.start();
    if (problem.empty() && !stopped()) problem = co_await break_before_start();
    if (problem.empty() && !stopped()) problem = co_await target_verb(stage_, "start");
    if (problem.empty() && !stopped()) problem = co_await wait_ready(stage_);
    if (problem.empty() && !stopped()) problem = co_await faults_.arm(Moment::kRun);
    phase("start", "end");
    if (!problem.empty()) trouble("target", problem);
  }

  asio::awaitable<std::string> break_before_start() {
    std::string problem = co_await faults_.arm(Moment::kBeforeStart);
    if (!problem.empty()) co_return problem;
    faults_.moment(Moment::kBeforeStart);
    early_over_ = false;
    asio::co_spawn(stage_.context.executor, live_early(), asio::detached);
    const auto broken = [this] { return faults_.in_effect(Moment::kBeforeStart) || stopped(); };
    (void)co_await until(stage_.context.bell, broken, within(kBreakWithin));
    co_return "";
  }

  // SAFETY: run() joins this before it returns, so it never outlives what it refers to.
  asio::awaitable<void> live_early() {
    try {
      co_await faults_.live(Moment::kBeforeStart, no_more_events_);
    } catch (const std::exception& error) {
      stage_.context.fail(error.what());
    }
    early_over_ = true;
    stage_.context.bell.ring();
  }

  asio::awaitable<void> join_early() {
    const auto over = [this] { return early_over_; };
    while (!early_over_) (void)co_await until(stage_.context.bell, over, within(seconds{1}));
  }

  // The workload, the faults, and the time after them until the target is at rest.
  asio::awaitable<void> disturb() {
    stage_.started = BootClock::now();
    phase("run", "begin");
    faults_.started();
    std::vector<asio::awaitable<void>> tasks;
    tasks.push_back(faults_.live(Moment::kRun, no_more_events_));
    tasks.push_back(work(stage_.bundle().scenario.workload));
    co_await all(stage_.context.executor, std::move(tasks));
    co_await join_early();
    phase("run", "end");
    if (!observation_.at_rest() && !stopped()) co_await settle(longest_settle());
    co_await watch_what_was_cancelled();
    if (!observation_.at_rest() && !stopped()) co_await recover();
    ending_.at_rest = observation_.at_rest();
    if (!ending_.at_rest && !stopped()) trouble("limit", not_at_rest());
  }

  std::string not_at_rest() const {
    const std::string then = recovered_ ? ", after recover " + for_people(longest_return()) : "";
    return fmt::format("not at rest within {} (limits: run {}, then settle {}{})",
                       for_people(ending_.took), for_people(stage_.bundle().scenario.run_limit),
                       for_people(longest_settle()), then);
  }

  Duration default_settle() const { return 2 * outage_ + kSettle; }
  Duration longest_settle() const {
    return stage_.bundle().scenario.settle.value_or(default_settle());
  }
  // A settle that is short because nothing is left that could settle says nothing about how long
  // the work takes that recover has set going again.
  Duration longest_return() const { return std::max(longest_settle(), default_settle()); }

  // Hands in the workload, then waits until it is done or nothing can be waited for any more.
  asio::awaitable<void> work(const scenario::Workload& workload) {
    bool handed_in = false;
    co_await step(hand_in(workload, handed_in));
    const Deadline limit = stage_.started + stage_.bundle().scenario.run_limit;
    stage_.context.progress.now("running");
    const auto done = [&] {
      return !handed_in || observation_.at_rest() || stopped() ||
             (!faults_.empty() && faults_.over(Moment::kRun));
    };
    (void)co_await until(stage_.context.bell, done, limit);
    ending_.took = BootClock::now() - stage_.started;
    no_more_events_ = true;
    stage_.context.bell.ring();
  }

  asio::awaitable<void> hand_in(const scenario::Workload& workload, bool& done) {
    const std::string problem = co_await target_verb(stage_, workload.verb, workload.args);
    if (!problem.empty()) {
      trouble("target", problem);
      co_return;
    }
    const journal::Json files = co_await list_handed_in();
    if (files.is_array()) observation_.handed_in(files);
    if (files.is_array() && observation_.items().empty() && !foreign_.items().empty()) {
      trouble("target", "the items of this workload were there before it: not ours to judge by");
      co_return;
    }
    done = true;
  }

  // A busy farm may change under each of the reads: without the list nothing could be judged, so
  // it is tried again for as long as the run may take.
  asio::awaitable<journal::Json> list_handed_in() {
    const Deadline limit = stage_.started + stage_.bundle().scenario.run_limit;
    for (;;) {
      journal::Json files = co_await list_items(stage_, observation_);
      const bool over = observation_.folder().node().empty() || stopped();
      if (files.is_array() || over || BootClock::now() >= limit) co_return files;
      co_await stage_.context.bell.wait(std::min(limit, within(std::chrono::milliseconds{200})));
    }
  }

  asio::awaitable<void> settle(Duration longest) {
    phase("settle", "begin");
    const auto done = [&] { return observation_.at_rest() || stopped(); };
    (void)co_await until(stage_.context.bell, done, within(longest));
    ending_.took = BootClock::now() - stage_.started;
    phase("settle", "end");
  }

  // Items may be at rest as cancelled while their processes are not: whether those end in time must
  // be seen before our own stop ends them.
  asio::awaitable<void> watch_what_was_cancelled() {
    Deadline last = BootClock::now();
    for (const scenario::Expectation& expectation : stage_.bundle().scenario.expect) {
      if (expectation.check != "cancellation" || !expectation.within) continue;
      last = std::max(last, faults_.last_fired() + *expectation.within);
    }
    const auto stop_asked = [this] { return stopped(); };
    (void)co_await until(stage_.context.bell, stop_asked, last);
  }

  // What the operator would do next; only what the profile says, once.
  asio::awaitable<void> recover() {
    if (stage_.bundle().target.recover.empty() || stage_.baseline || faults_.stranded()) co_return;
    phase("recover", "begin");
    const journal::Json files = co_await list_items(stage_, observation_);
    if (!observation_.folder().node().empty()) observation_.at_capture(files);
    std::string problem = co_await faults_.arm(Moment::kRecover);
    faults_.moment(Moment::kRecover);
    std::vector<asio::awaitable<void>> tasks;
    tasks.push_back(faults_.live(Moment::kRecover, recovered_));
    tasks.push_back(bring_back(problem));
    co_await all(stage_.context.executor, std::move(tasks));
    if (!problem.empty()) trouble("target", problem);
    phase("recover", "end");
    co_await settle(longest_return());
  }

  asio::awaitable<void> bring_back(std::string& problem) {
    for (const std::string& verb : stage_.bundle().target.recover) {
      if (problem.empty()) problem = co_await target_verb(stage_, verb);
    }
    recovered_ = true;
    stage_.context.bell.ring();
  }

  asio::awaitable<void> capture() {
    phase("capture", "begin");
    const journal::Json files = co_await list_items(stage_, observation_);
    if (!observation_.folder().node().empty()) observation_.at_capture(files);
    co_await capture_outputs(stage_, observation_);
    if (!stage_.baseline) co_await run_commands(stage_);
    co_await snapshot_files(stage_, "after");
    if (!faults_.empty()) co_await read_clocks(stage_);
    phase("capture", "end");
  }

  asio::awaitable<void> stop() {
    phase("stop", "begin");
    const std::string problem = co_await target_verb(stage_, "stop");
    if (!problem.empty()) stage_.note("stop: " + problem);
    co_await snapshot_system(stage_, "after");
    co_await observation_.stop();
    co_await collect_logs(stage_);
    phase("stop", "end");
  }

  // Takes the folder off the nodes; ends what the target's own `stop` left, which by now is
  // in the journal as a process that was not seen to go.
  asio::awaitable<void> clear() {
    if (deploying_) (void)co_await target_verb(stage_, "remove");
    std::vector<asio::awaitable<void>> tasks;
    for (const std::string& host : stage_.plan().hosts) tasks.push_back(clear_node(host));
    co_await all(stage_.context.executor, std::move(tasks));
  }

  asio::awaitable<void> clear_node(std::string node) {
    const std::string script = node_script("heal.sh");
    const std::string run = shell_quoted(stage_.id);
    (void)co_await stage_.context.node(node).exec(node::Command("sh -s -- undo " + run, script),
                                                  within(kRemove));
    const node::Outcome removed = co_await stage_.context.node(node).exec(
        node::Command("sh -s -- remove " + run + " keep_lock", script), within(kRemove));
    if (!removed.ok()) {
      stage_.note("the run's folder could not be removed: " + reason(removed), node);
    }
  }

  Stage& stage_;
  Faults faults_;
  Observation observation_;
  ForeignWork foreign_;
  Duration outage_;
  Ending ending_;
  bool no_more_events_ = false;  // of the workload: what waits for one waits in vain
  bool recovered_ = false;
  bool early_over_ = true;
  bool deploying_ = false;  // from here on there is something of the target to stop
  bool deployed_ = false;
};

}  // namespace

asio::awaitable<Ending> exercise(Stage& stage, const Plan& plan) {
  Exercise run(stage, plan);
  co_return co_await run.run();
}

}  // namespace unplug::run
