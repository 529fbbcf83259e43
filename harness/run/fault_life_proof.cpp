// A fault's life: it is looked at, in effect and undone.
#include <fmt/format.h>

#include "run/fault_life.hpp"
#include "run/remote.hpp"

namespace unplug::run {
namespace {

constexpr std::chrono::seconds kSampleWithin{10};

const char* text_of(bool yes, bool no) { return yes ? "yes" : no ? "no" : "unknown"; }

}  // namespace

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
  const node::Outcome outcome =
      co_await call(stage_, fault_.call(role, verb), within(kSampleWithin));
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
