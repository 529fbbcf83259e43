#include "run/faults.hpp"

#include <algorithm>

#include "run/remote.hpp"

namespace unplug::run {
namespace {

asio::awaitable<void> arm_one(FaultLife& life, std::string& problem) {
  std::string own;
  try {
    own = co_await life.arm();
  } catch (const std::exception& error) {
    own = life.plan().instance + " cannot be armed: " + error.what();
  }
  if (problem.empty()) problem = std::move(own);
}

asio::awaitable<void> loose_one(FaultLife& life, std::string& problem) {
  std::string own = co_await life.loose_trigger();
  if (problem.empty()) problem = std::move(own);
}

}  // namespace

Faults::Faults(Stage& stage, const Plan& plan) : stage_(stage) {
  for (const FaultPlan& fault : plan.faults) {
    lives_.push_back(std::make_unique<FaultLife>(stage, fault, *this));
  }
}

std::vector<FaultLife*> Faults::of(Moment moment) const {
  std::vector<FaultLife*> lives;
  for (const auto& life : lives_) {
    if (life->plan().moment == moment) lives.push_back(life.get());
  }
  return lives;
}

bool Faults::over(Moment moment) const { return std::ranges::all_of(of(moment), &FaultLife::over); }

bool Faults::in_effect(Moment moment) const {
  return std::ranges::all_of(of(moment), [](auto* l) { return l->in_effect() || l->over(); });
}

BootClock::time_point Faults::last_fired() const {
  BootClock::time_point last{};
  for (const auto& life : lives_) last = std::max(last, life->fired_at());
  return last;
}

bool Faults::stranded() const {
  return std::ranges::any_of(lives_, [](auto& l) { return l->stranded(); });
}

void Faults::journal_planned() {
  if (lives_.empty()) return;
  planned_ = true;
  for (const auto& life : lives_) life->journal_planned();
  stage_.journal.sync();
}

asio::awaitable<std::string> Faults::arm(Moment moment) {
  const std::vector<FaultLife*> lives = of(moment);
  std::string problem;
  std::vector<asio::awaitable<void>> tasks;
  for (FaultLife* life : lives) tasks.push_back(arm_one(*life, problem));
  co_await all(stage_.context.executor, std::move(tasks));
  if (problem.empty()) {
    // SAFETY: only now: a trigger must not fire while another fault may still refuse to be armed
    // (tests/run/fault_life_test.cpp).
    std::vector<asio::awaitable<void>> loosing;
    for (FaultLife* life : lives) loosing.push_back(loose_one(*life, problem));
    co_await all(stage_.context.executor, std::move(loosing));
  }
  if (problem.empty()) co_return "";
  // Undo in reverse order of arming; go on past failures, each of which is journaled.
  for (auto life = lives.rbegin(); life != lives.rend(); ++life) {
    co_await (*life)->disarm("not every fault could be armed: " + problem);
  }
  co_return problem;
}

Duration Faults::now() const { return BootClock::now() - stage_.started; }

void Faults::moment(Moment moment) {
  for (const auto& life : lives_) life->watch().moment(now(), moment);
  stage_.context.bell.ring();
}

void Faults::started() {
  for (const auto& life : lives_) life->watch().started(now());
  stage_.context.bell.ring();
}

void Faults::event(const SeenEvent& seen) {
  for (const auto& life : lives_) life->watch().event(now(), seen);
  stage_.context.bell.ring();
}

asio::awaitable<void> Faults::live(Moment moment, const bool& at_rest) {
  std::vector<asio::awaitable<void>> tasks;
  for (FaultLife* life : of(moment)) tasks.push_back(life->live(at_rest));
  co_await all(stage_.context.executor, std::move(tasks));
}

asio::awaitable<void> Faults::disarm_rest(std::string why) {
  if (!planned_) co_return;
  for (auto life = lives_.rbegin(); life != lives_.rend(); ++life) {
    if (!(*life)->over()) co_await (*life)->disarm(why);
  }
}

void Faults::fired(const FaultPlan& fault) {
  for (const auto& life : lives_) life->watch().fired(now(), fault.id);
  stage_.context.bell.ring();
}

void Faults::ended(const FaultPlan& fault) {
  const bool all_instances = std::ranges::all_of(
      lives_, [&](auto& life) { return life->plan().id != fault.id || life->over(); });
  if (!all_instances) return;
  for (const auto& life : lives_) life->watch().ended(now(), fault.id);
  stage_.context.bell.ring();
}

}  // namespace unplug::run
