// The life of one fault instance, from planned to reverted (docs/journal.md, states of a fault).
//
// Order is safety: the undo is on the node's disk and journaled here, synced, before the guard
// is started; `armed` is synced before anything can fire. Whatever happens, end() has been
// reached when live() returns.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "run/context.hpp"
#include "run/guard_link.hpp"
#include "run/plan_trigger.hpp"

namespace unplug::run {

// Whom a fault tells what other faults wait for (`with`, `after`).
class FaultNews {
 public:
  virtual ~FaultNews() = default;
  virtual void fired(const FaultPlan& fault) = 0;
  virtual void ended(const FaultPlan& fault) = 0;
};

class FaultLife {
 public:
  FaultLife(Stage& stage, const FaultPlan& fault, FaultNews& news);
  ~FaultLife();
  FaultLife(const FaultLife&) = delete;
  FaultLife& operator=(const FaultLife&) = delete;

  const FaultPlan& plan() const { return fault_; }
  TriggerWatch& watch() { return watch_; }
  bool fired() const { return fired_; }
  BootClock::time_point fired_at() const { return fired_at_; }  // the clock's beginning before
  bool in_effect() const { return in_effect_; }                 // seen so at least once
  bool over() const { return over_; }                           // nothing more will happen
  bool stranded() const { return stranded_; }                   // and it is still broken

  void journal_planned();

  // The undo on the node, then the guard. "" or why it could not.
  asio::awaitable<std::string> arm();

  // Lets a trigger on the node loose, once every fault is armed. "" or why it could not.
  asio::awaitable<std::string> loose_trigger();

  // Waits for the trigger, fires, proves, holds, reverts, proves again. `at_rest` says that the
  // target has nothing more to do: what has not been triggered by then never will be.
  asio::awaitable<void> live(const bool& at_rest);

  // Takes back what is armed, without firing. A trigger on the node may have been faster.
  asio::awaitable<void> disarm(std::string why);

 private:
  asio::awaitable<void> act(const bool& at_rest);
  asio::awaitable<bool> wait_for_trigger(const bool& at_rest);
  asio::awaitable<bool> fire();
  // It was fired after all: faster than our word, or later than we waited for it.
  asio::awaitable<void> own_up(BootClock::time_point asked_at, std::string why);
  asio::awaitable<void> prove_lasting();
  asio::awaitable<void> hold();
  // For a fault that cuts its node off: who stays outside is asked while it lasts, who was cut off
  // afterwards (fault_life_cut_off.cpp).
  asio::awaitable<void> hold_cut_off();
  asio::awaitable<bool> watch_from_outside(BootClock::time_point planned_end);
  asio::awaitable<bool> prove_afterwards(BootClock::time_point planned_end);
  asio::awaitable<void> revert(std::string why);
  asio::awaitable<void> prove_reverted();

  enum class Says { kYes, kNo, kUnknown };
  enum class Of {
    kAll,
    kOutside,
    kCutOff
  };  // which roles: on other nodes than it cuts off, or on that
  // One sample of those roles at the same time; the worst answer.
  asio::awaitable<Says> sample(std::string verb, Of of = Of::kAll);
  asio::awaitable<void> sample_role(const RolePlan& role, std::string verb, Of of, Says& worst);

  void journal(const std::string& state, journal::Json more = {});
  void journal_fired(BootClock::time_point asked_at);
  void seen_in_effect(const char* state = "in_effect");
  void strand(const std::string& why);
  bool stopped() const { return stage_.context.stop != Stop::kNo; }
  // How much longer than usual its guard may be silent.
  Duration silence() const;

  Stage& stage_;
  const FaultPlan& fault_;
  FaultNews& news_;
  TriggerWatch watch_;
  std::shared_ptr<GuardLink> guard_;
  BootClock::time_point fired_at_{};
  bool fired_ = false, in_effect_ = false, over_ = false, stranded_ = false;
};

}  // namespace unplug::run
