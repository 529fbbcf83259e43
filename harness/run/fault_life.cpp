#include "run/fault_life.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "run/remote.hpp"

namespace unplug::run {
namespace {

using std::chrono::seconds;

constexpr seconds kArmWithin{15};
constexpr seconds kVerbWithin{10};

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

}  // namespace unplug::run
