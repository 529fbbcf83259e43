#include "run/fault_life.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "run/remote.hpp"

namespace unplug::run {
namespace {

using std::chrono::seconds;

constexpr seconds kArmWithin{15};
constexpr seconds kVerbWithin{10};

const char* text_of(bool yes, bool no) { return yes ? "yes" : no ? "no" : "unknown"; }

}  // namespace

FaultLife::FaultLife(Stage& stage, const FaultPlan& fault, FaultNews& news)
    : stage_(stage), fault_(fault), news_(news), watch_(fault) {}

FaultLife::~FaultLife() {
  if (guard_) guard_->close();
}

void FaultLife::journal(const std::string& state, journal::Json more) {
  journal::Json data = fault_data(fault_, fault_.actor().role, state, "controller");
  if (more.is_object()) data.update(more);
  stage_.journal.append({.kind = "fault", .data = std::move(data), .node = fault_.actor().node});
}

void FaultLife::journal_planned() {
  journal::Json victim = nullptr;
  if (!fault_.seat.empty()) {
    victim = {{"part", fault_.victim ? fault_.victim->part : ""}, {"seat", fault_.seat}};
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
  if (!said.is_object() || said.value("armed", journal::Json()) != true) {
    co_return fmt::format("{} on {}: arm left no undo", fault_.id, what.node);
  }
  journal("journaled", {{"lease_ns", fault_.lease.count()},
                        {"hard_ns", fault_.hard.count()},
                        {"undo_sha", said.value("undo_sha", journal::Json())},
                        {"captured", said.value("captured", journal::Json::object())}});
  // SAFETY: no guard before its undo is on our disk, and nothing fires before `armed` is
  // (tests/run/fault_life_test.cpp).
  stage_.journal.sync();
  if (stopped()) co_return fmt::format("{} is not armed: the run was stopped", fault_.id);
  guard_ = std::make_shared<GuardLink>(stage_, fault_);
  const std::string problem = co_await guard_->start(within(kArmWithin));
  if (!problem.empty()) co_return fmt::format("{} on {}: {}", fault_.id, what.node, problem);
  journal("armed", {{"gen", guard_->said().gen}});
  stage_.journal.sync();
  if (stopped()) co_return fmt::format("{} is not used: the run was stopped", fault_.id);
  co_return "";
}

asio::awaitable<std::string> FaultLife::loose_trigger() {
  if (!fault_.armed_on_node) co_return "";
  const bool loose = co_await guard_->loose_trigger(within(kVerbWithin));
  if (loose) co_return "";
  co_return fmt::format("{} on {}: its trigger could not be armed", fault_.id, fault_.actor().node);
}

asio::awaitable<void> FaultLife::live(const bool& at_rest) {
  bool cut_short = false;
  try {
    co_await act(at_rest);
  } catch (const std::exception& error) {
    // A bug of ours. Its guard still undoes it: asked below, or at the end of its lease.
    stage_.context.fail(fault_.instance + ": " + error.what());
    cut_short = true;
  }
  if (cut_short) co_await revert("interrupted");
  over_ = true;
  news_.ended(fault_);
  stage_.context.bell.ring();
}

asio::awaitable<void> FaultLife::act(const bool& at_rest) {
  const bool triggered = co_await wait_for_trigger(at_rest);
  bool in_the_world = false;
  if (triggered) in_the_world = co_await fire();
  if (in_the_world && fault_.lasting) co_await prove_lasting();
  if (in_the_world && !fault_.lasting && !fault_.cuts_off()) co_await hold();
  if (in_the_world && !fault_.lasting && fault_.cuts_off()) co_await hold_cut_off();
}

asio::awaitable<bool> FaultLife::wait_for_trigger(const bool& at_rest) {
  for (;;) {
    const GuardSaid& said = guard_->said();
    const bool heard = said.fired || said.not_fired || said.reverting || said.gone;
    // SAFETY: stopped comes before due: nothing is fired any more once a run is to heal.
    if (!heard && (at_rest || stopped())) {
      const std::string why =
          stopped() ? "the run was stopped first" : "the target had finished first";
      co_await disarm(why);
      co_return false;
    }
    if (heard) co_return true;
    const auto due = watch_.due();
    Deadline next = within(seconds{1});
    if (due && !fault_.armed_on_node) {
      if (BootClock::now() >= stage_.started + *due) co_return true;
      next = std::min(next, stage_.started + *due);
    }
    co_await stage_.context.bell.wait(next);
  }
}

asio::awaitable<bool> FaultLife::fire() {
  const auto asked_at = BootClock::now();
  const GuardSaid& said = guard_->said();
  const auto answered = [&said] {
    return said.fired || said.not_fired || said.reverting || said.gone;
  };
  if (!fault_.armed_on_node && !answered()) {
    (void)co_await guard_->fire(within(kVerbWithin));
    const Deadline give_up = within(stage_.context.times.effect_within + silence());
    (void)co_await until(stage_.context.bell, answered, give_up);
  }
  if (said.gone && !said.fired) {
    // The stream went with the answer in it: the folder says whether fire was begun.
    const Deadline back = within(kVerbWithin + silence());
    (void)co_await stage_.context.node(fault_.actor().node).connected(back);
    co_await guard_->look(within(kVerbWithin));
  }
  if (said.fired) {
    journal_fired(asked_at);
    co_return true;
  }
  const std::string why = said.not_fired   ? said.why
                          : said.reverting ? "the guard had ended it: " + said.why
                                           : "fire was not answered";
  journal("no_effect", {{"why", why}});
  stage_.context.progress.fact(fault_.id, "not fired: " + why);
  co_await revert("planned");
  co_await own_up(asked_at, why);
  co_return false;
}

asio::awaitable<void> FaultLife::own_up(BootClock::time_point asked_at, std::string why) {
  if (!guard_->said().fired) co_return;
  journal_fired(asked_at);
  journal("ended_early", {{"why", why}});
  if (guard_->said().spent) journal("spent");
  if (guard_->said().reverted) co_await prove_reverted();
}

void FaultLife::journal_fired(BootClock::time_point asked_at) {
  const GuardSaid& said = guard_->said();
  fired_ = true;
  auto t0 = asked_at.time_since_epoch().count();
  auto t1 = said.fired_by == BootClock::time_point{} ? BootClock::now() : said.fired_by;
  if (fault_.cuts_off() && said.nt != 0) {
    // Its word may have waited for the node to come back.
    const auto bounds = stage_.context.clocks.ours(fault_.actor().node, said.boot, said.nt);
    if (bounds) t1 = std::min(t1, BootClock::time_point{Duration{bounds->latest}});
  }
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

void FaultLife::seen_in_effect(const char* state) {
  if (in_effect_) return;
  in_effect_ = true;
  journal(state, {{"from", BootClock::now().time_since_epoch().count()}});
  stage_.context.bell.ring();
}

asio::awaitable<void> FaultLife::prove_lasting() {
  int held = 0;
  const Deadline give_up = within(stage_.context.times.effect_within);
  while (held < 2 && (held > 0 || BootClock::now() < give_up)) {
    const Says says = co_await sample("verify");
    if (says == Says::kYes) {
      seen_in_effect();
      if (++held == 2) break;
      co_await pause(stage_.context.bell, stage_.context.times.twice_apart);
    } else if (held > 0) {
      break;
    } else {
      co_await pause(stage_.context.bell, stage_.context.times.retry);
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
    const Duration next = in_effect_ ? fault_.verify_every : stage_.context.times.retry;
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
  const std::string why = stopped() ? "interrupted" : "planned";
  co_await revert(why);
}

asio::awaitable<void> FaultLife::revert(std::string why) {
  // A guard that has begun by itself has journaled that; asking it again changes nothing.
  if (!guard_->said().reverting && !guard_->said().over() && !fault_.lasting) {
    journal("reverting", {{"why", why}});
  }
  Deadline deadline = within(fault_.undo_settle + stage_.context.times.undo_beyond + silence());
  const auto answered = [this] { return guard_->said().over() || guard_->said().gone; };
  if (!answered()) co_await guard_->ask_revert(deadline);
  (void)co_await until(stage_.context.bell, answered, deadline);
  // A guard that cannot hear us undoes it at the end of its lease.
  if (guard_->said().gone) deadline += fault_.lease;
  // The stream may have gone with our word in it: by the fault's folder.
  co_await guard_->ask_revert(deadline);
  while (!guard_->said().over() && BootClock::now() < deadline) {
    co_await guard_->look(deadline);
    if (guard_->said().over()) break;
    co_await pause(stage_.context.bell, stage_.context.times.retry);
  }
  if (!guard_->said().over() && fault_.lasting && fired_) {
    stage_.note(fault_.instance + ": its guard was not heard again; there is nothing to undo",
                fault_.actor().node);
  } else if (!guard_->said().over()) {
    strand(guard_->said().why.empty() ? "the guard did not report the undo" : guard_->said().why);
  } else if (fired_ && !fault_.lasting) {
    co_await prove_reverted();
  }
}

asio::awaitable<void> FaultLife::prove_reverted() {
  int held = 0;
  const Deadline give_up = within(fault_.undo_settle + stage_.context.times.twice_apart);
  while (held < 2) {
    const Says says = co_await sample("verify_reverted");
    held = says == Says::kYes ? held + 1 : 0;
    if (held == 2) break;
    if (BootClock::now() >= give_up) {
      strand("verify_reverted does not hold");
      co_return;
    }
    const Times& times = stage_.context.times;
    const Duration apart = held > 0 ? times.twice_apart : times.retry;
    co_await pause(stage_.context.bell, apart);
  }
  journal("reverted");
  stage_.context.progress.fact(fault_.id, "reverted, proved twice");
}

asio::awaitable<void> FaultLife::disarm(std::string why) {
  if (guard_ && guard_->may_own()) co_await revert("planned");
  over_ = true;
  const bool was_faster = guard_ && guard_->said().fired;
  if (!was_faster) {
    journal("not_triggered", {{"why", why}});
    stage_.context.progress.fact(fault_.id, "not triggered: " + why);
    co_return;
  }
  co_await own_up(BootClock::now(), why);
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

asio::awaitable<FaultLife::Says> FaultLife::sample(std::string verb, Of of) {
  Says worst = Says::kYes;
  std::vector<asio::awaitable<void>> tasks;
  for (const RolePlan& role : fault_.roles) {
    const bool cut_off = role.node == fault_.actor().node;
    if (of == Of::kAll || cut_off == (of == Of::kCutOff)) {
      tasks.push_back(sample_role(role, verb, of, worst));
    }
  }
  co_await all(stage_.context.executor, std::move(tasks));
  co_return worst;
}

asio::awaitable<void> FaultLife::sample_role(const RolePlan& role, std::string verb, Of of,
                                             Says& worst) {
  const auto t0 = BootClock::now();
  const node::Outcome outcome = co_await call(stage_, fault_.call(role, verb), within(kVerbWithin));
  const bool yes = outcome.ok();
  const bool no = outcome.end == node::Outcome::End::kExited && outcome.status == 1;
  journal::Json observed = last_json(outcome.out);
  if (!yes && !no) observed = {{"outcome", reason(outcome)}};
  journal::Json data = {{"fault", fault_.instance},
                        {"id", fault_.id},
                        {"role", role.role},
                        {"of", verb == "verify" ? "effect" : "reverted"},
                        {"says", text_of(yes, no)},
                        {"observed", std::move(observed)},
                        {"t0", t0.time_since_epoch().count()},
                        {"t1", BootClock::now().time_since_epoch().count()}};
  if (of == Of::kCutOff) data["afterwards"] = true;
  stage_.journal.append({.kind = "proof", .data = std::move(data), .node = role.node});
  if (no) worst = Says::kNo;
  if (!yes && !no && worst == Says::kYes) worst = Says::kUnknown;
}

}  // namespace unplug::run
