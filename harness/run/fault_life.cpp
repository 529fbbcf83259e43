#include "run/fault_life.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "run/remote.hpp"

namespace unplug::run {
namespace {

using std::chrono::seconds;

// SEMANTICS, In effect: a lasting fault's proof, and any undo's, must hold twice, this far apart.
constexpr seconds kTwiceApart{1};
// A fault that shows no effect by then has none.
constexpr seconds kEffectWithin{5};
constexpr seconds kArmWithin{15};
constexpr seconds kVerbWithin{10};
constexpr std::chrono::milliseconds kRetry{100};

const char* text_of(bool yes, bool no) { return yes ? "yes" : no ? "no" : "unknown"; }

}  // namespace

FaultLife::FaultLife(Stage& stage, const FaultPlan& fault, FaultNews& news)
    : stage_(stage), fault_(fault), news_(news), watch_(fault) {}

void FaultLife::journal(const std::string& state, journal::Json more) {
  journal::Json data = fault_data(fault_, fault_.actor().role, state, "controller");
  if (more.is_object()) data.update(more);
  stage_.journal.append({.kind = "fault", .data = std::move(data), .node = fault_.actor().node});
}

void FaultLife::journal_planned() {
  journal::Json victim = nullptr;
  if (fault_.victim) {
    victim = {{"part", fault_.victim->part}, {"seat", fault_.victim->seat.id()}};
  }
  const auto drawn = fault_.drawn ? journal::Json(fault_.drawn->count()) : journal::Json();
  const auto held = fault_.lasting ? journal::Json() : journal::Json(fault_.hold.count());
  for (const RolePlan& role : fault_.roles) {
    journal::Json data = fault_data(fault_, role.role, "planned", "controller");
    data.update({{"trigger", fault_.trigger_text},
                 {"drawn_ns", drawn},
                 {"hold_ns", held},
                 {"lasting", fault_.lasting},
                 {"acts", role.acts},
                 {"victim", victim}});
    stage_.journal.append({.kind = "fault", .data = std::move(data), .node = role.node});
  }
}

asio::awaitable<std::string> FaultLife::arm() {
  const Call what = fault_.arm_call();
  const node::Outcome outcome = co_await call(stage_, what, within(kVerbWithin));
  if (!outcome.ok()) {
    co_return fmt::format("{} cannot be armed on {}: {}", fault_.id, what.node, reason(outcome));
  }
  const journal::Json said = last_json(outcome.out);
  if (!said.is_object() || !said.value("armed", false)) {
    co_return fmt::format("{} on {}: arm left no undo", fault_.id, what.node);
  }
  journal("journaled", {{"lease_ns", fault_.lease.count()},
                        {"hard_ns", fault_.hard.count()},
                        {"undo_sha", said.value("undo_sha", "")},
                        {"captured", said.value("captured", journal::Json::object())}});
  stage_.journal.sync();
  guard_ = std::make_shared<GuardLink>(stage_, fault_);
  const std::string problem = co_await guard_->start(within(kArmWithin));
  if (!problem.empty()) co_return fmt::format("{} on {}: {}", fault_.id, what.node, problem);
  armed_ = true;
  journal("armed", {{"gen", guard_->said().gen}});
  // SAFETY: nothing can fire before this is on disk (tests/run/fault_life_test.cpp).
  stage_.journal.sync();
  if (!fault_.armed_on_node) co_return "";
  const bool loose = co_await guard_->loose_trigger(within(kVerbWithin));
  if (loose) co_return "";
  co_return fmt::format("{} on {}: its trigger could not be armed", fault_.id, what.node);
}

asio::awaitable<void> FaultLife::live(const bool& at_rest) {
  const bool triggered = co_await wait_for_trigger(at_rest);
  bool in_the_world = false;
  if (triggered) in_the_world = co_await fire();
  if (in_the_world && fault_.lasting) co_await prove_lasting();
  if (in_the_world && !fault_.lasting) co_await hold();
  over_ = true;
  news_.ended(fault_);
  stage_.context.bell.ring();
}

asio::awaitable<bool> FaultLife::wait_for_trigger(const bool& at_rest) {
  const auto heard = [this] {
    const GuardSaid& said = guard_->said();
    return said.fired || said.not_fired || said.reverting || said.gone;
  };
  const auto stopped = [&] { return at_rest || stage_.context.stop != Stop::kNo; };
  for (;;) {
    if (heard()) co_return true;
    const auto due = watch_.due();
    Deadline next = within(seconds{1});
    if (due && !fault_.armed_on_node) {
      if (BootClock::now() >= stage_.started + *due) co_return true;
      next = std::min(next, stage_.started + *due);
    }
    if (stopped()) {
      co_await disarm(stage_.context.stop != Stop::kNo ? "the run was stopped first"
                                                       : "the target had finished first");
      co_return false;
    }
    co_await stage_.context.bell.wait(next);
  }
}

asio::awaitable<bool> FaultLife::fire() {
  const auto asked_at = BootClock::now();
  if (!fault_.armed_on_node && !guard_->said().gone) {
    (void)co_await guard_->fire(within(kVerbWithin));
    const auto answered = [this] {
      const GuardSaid& said = guard_->said();
      return said.fired || said.not_fired || said.reverting || said.gone;
    };
    (void)co_await until(stage_.context.bell, answered, within(kEffectWithin));
  }
  if (guard_->said().gone && !guard_->said().fired) {
    // The stream went with the answer in it: the folder says whether fire was begun.
    (void)co_await stage_.context.node(fault_.actor().node).connected(within(kVerbWithin));
    co_await guard_->look(within(kVerbWithin));
  }
  if (guard_->said().fired) {
    journal_fired(asked_at);
    co_return true;
  }
  const GuardSaid& said = guard_->said();
  journal("no_effect", {{"why", said.not_fired ? said.why : "fire was not answered"}});
  stage_.context.progress.fact(fault_.id, "not fired: " + said.why);
  co_await revert("planned");
  co_return false;
}

void FaultLife::journal_fired(BootClock::time_point asked_at) {
  const GuardSaid& said = guard_->said();
  fired_ = true;
  auto t0 = asked_at.time_since_epoch().count();
  const auto t1 = said.fired_by == BootClock::time_point{} ? BootClock::now() : said.fired_by;
  if (fault_.armed_on_node) {
    // The node fired by itself. Its clock has steps of 10 ms; without one all that is known is
    // that it was after `started`.
    constexpr std::int64_t kStep = 10'000'000;
    const auto bounds = stage_.context.clocks.ours(fault_.actor().node, said.boot, said.nt - kStep);
    t0 = bounds ? bounds->earliest : stage_.started.time_since_epoch().count();
  }
  t0 = std::min(t0, t1.time_since_epoch().count());
  fired_at_ = t1;
  journal::Json data = {{"t0", t0}, {"t1", t1.time_since_epoch().count()}};
  const auto optional = [](const std::optional<double>& v) {
    return v ? journal::Json(*v) : journal::Json();
  };
  data["asked"] = optional(watch_.asked());
  data["reached"] =
      optional(fault_.armed_on_node ? number_in(stage_.bundle().target, fault_.trigger, said.line)
                                    : watch_.reached());
  data["line"] = said.line;
  data["victim"] = said.victim;
  journal::Json full = fault_data(fault_, fault_.actor().role, "fired", "controller");
  full.update(data);
  journal::Draft draft{.kind = "fault", .data = std::move(full), .node = fault_.actor().node};
  if (said.nt != 0) draft.node_time = journal::NodeTime{said.boot, said.nt};
  stage_.journal.append(std::move(draft));
  stage_.journal.sync();
  std::string where = fault_.victim ? fault_.victim->seat.text() : fault_.actor().node;
  if (said.victim.is_object()) where += fmt::format(", pid {}", said.victim.value("pid", 0));
  stage_.context.progress.fact(fault_.id,
                               fmt::format("{} fired at {}{}", fault_.injector, where,
                                           said.line.empty() ? "" : " on \"" + said.line + "\""));
  news_.fired(fault_);
}

void FaultLife::seen_in_effect() {
  if (in_effect_) return;
  in_effect_ = true;
  journal("in_effect", {{"from", BootClock::now().time_since_epoch().count()}});
  stage_.context.bell.ring();
}

asio::awaitable<void> FaultLife::prove_lasting() {
  int held = 0;
  const Deadline give_up = within(kEffectWithin);
  while (held < 2 && (held > 0 || BootClock::now() < give_up)) {
    const Says says = co_await sample("verify");
    if (says == Says::kYes) {
      seen_in_effect();
      if (++held == 2) break;
      co_await pause(stage_.context.bell, kTwiceApart);
    } else if (held > 0) {
      break;
    } else {
      co_await pause(stage_.context.bell, kRetry);
    }
  }
  if (held == 2) {
    journal("spent");
    stage_.context.progress.fact(fault_.id, "proved: it stays in effect");
  } else {
    journal(held == 0 ? "no_effect" : "ended_early",
            {{"why", held == 0 ? "verify never said yes" : "verify said yes once and then no"}});
    stage_.context.progress.fact(fault_.id, "NO PROOF of effect");
  }
  co_await revert("planned");
}

asio::awaitable<void> FaultLife::hold() {
  const auto planned_end = fired_at_ + fault_.hold;
  const auto ended = [this] {
    return guard_->said().reverting || stage_.context.stop != Stop::kNo;
  };
  bool lost = false;
  while (!ended() && !lost) {
    const bool last = BootClock::now() >= planned_end;
    const Says says = co_await sample("verify");
    if (says == Says::kYes) seen_in_effect();
    lost = in_effect_ && says == Says::kNo;
    if (last) break;
    const Duration next = in_effect_ ? fault_.verify_every : Duration{kRetry};
    (void)co_await until(stage_.context.bell, ended, std::min(planned_end, within(next)));
  }
  if (lost) {
    journal("ended_early", {{"why", "verify said no while it should have held"}});
  } else if (guard_->said().reverting && BootClock::now() < planned_end) {
    journal("ended_early", {{"why", "the guard ended it: " + guard_->said().why}});
  } else if (!in_effect_) {
    journal("no_effect", {{"why", "verify never said yes"}});
    stage_.context.progress.fact(fault_.id, "NO PROOF of effect");
  }
  co_await revert(stage_.context.stop != Stop::kNo ? "interrupted" : "planned");
}

asio::awaitable<void> FaultLife::revert(std::string why) {
  // A guard that has begun by itself has journaled that; asking it again changes nothing.
  if (!guard_->said().reverting && !guard_->said().over() && !fault_.lasting) {
    journal("reverting", {{"why", why}});
  }
  const Deadline deadline = within(fault_.undo_settle + seconds{8});
  co_await guard_->ask_revert(deadline);
  const auto answered = [this] { return guard_->said().over() || guard_->said().gone; };
  (void)co_await until(stage_.context.bell, answered, deadline);
  while (!guard_->said().over() && BootClock::now() < deadline) {
    co_await guard_->look(deadline);
    if (guard_->said().over()) break;
    co_await pause(stage_.context.bell, kRetry);
  }
  if (!guard_->said().over()) {
    strand(guard_->said().why.empty() ? "the guard did not report the undo" : guard_->said().why);
  } else if (fired_ && !fault_.lasting) {
    co_await prove_reverted();
  }
}

asio::awaitable<void> FaultLife::prove_reverted() {
  int held = 0;
  const Deadline give_up = within(fault_.undo_settle + kTwiceApart);
  while (held < 2) {
    const Says says = co_await sample("verify_reverted");
    held = says == Says::kYes ? held + 1 : 0;
    if (held == 2) break;
    if (BootClock::now() >= give_up) {
      strand("verify_reverted does not hold");
      co_return;
    }
    const Duration apart = held > 0 ? Duration{kTwiceApart} : Duration{kRetry};
    co_await pause(stage_.context.bell, apart);
  }
  journal("reverted");
  stage_.context.progress.fact(fault_.id, "reverted, proved twice");
}

asio::awaitable<void> FaultLife::disarm(std::string why) {
  if (!armed_) {
    journal("not_triggered", {{"why", why}});
    over_ = true;
    co_return;
  }
  co_await revert("planned");
  over_ = true;
  if (guard_->said().fired) {
    // Its trigger on the node was faster than our word.
    journal_fired(BootClock::now());
    co_return;
  }
  journal("not_triggered", {{"why", why}});
  stage_.context.progress.fact(fault_.id, "not triggered: " + why);
}

void FaultLife::strand(const std::string& why) {
  stranded_ = true;
  const std::string& node = fault_.actor().node;
  journal("stranded", {{"why", why},
                       {"by_hand", fmt::format("on {}: cd ~/{} && sh {}/guard.sh undo hand", node,
                                               stage_.remote(), fault_.instance)}});
  stage_.journal.sync();
  stage_.context.progress.fact(fault_.id, "STRANDED on " + node + ": " + why);
}

asio::awaitable<FaultLife::Says> FaultLife::sample(std::string verb) {
  Says worst = Says::kYes;
  std::vector<asio::awaitable<void>> tasks;
  for (const RolePlan& role : fault_.roles) tasks.push_back(sample_role(role, verb, worst));
  co_await all(stage_.context.executor, std::move(tasks));
  co_return worst;
}

asio::awaitable<void> FaultLife::sample_role(const RolePlan& role, std::string verb, Says& worst) {
  const auto t0 = BootClock::now();
  const node::Outcome outcome = co_await call(stage_, fault_.call(role, verb), within(kVerbWithin));
  const bool yes = outcome.ok();
  const bool no = outcome.end == node::Outcome::End::kExited && outcome.status == 1;
  journal::Json observed = last_json(outcome.out);
  if (!yes && !no) observed = {{"outcome", reason(outcome)}};
  stage_.journal.append({.kind = "proof",
                         .data = {{"fault", fault_.instance},
                                  {"id", fault_.id},
                                  {"role", role.role},
                                  {"of", verb == "verify" ? "effect" : "reverted"},
                                  {"says", text_of(yes, no)},
                                  {"observed", std::move(observed)},
                                  {"t0", t0.time_since_epoch().count()},
                                  {"t1", BootClock::now().time_since_epoch().count()}},
                         .node = role.node});
  if (no) worst = Says::kNo;
  if (!yes && !no && worst == Says::kYes) worst = Says::kUnknown;
}

}  // namespace unplug::run
