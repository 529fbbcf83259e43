// The hold of a fault that cuts its node off, a sleep above all: nobody there can be asked while it
// lasts, and a session that is lost is as it should be.
//
//   fired -> outside says yes ... = provisional -> planned end -> the node is back
//         -> its own record says yes = confirmed -> revert
#include <fmt/format.h>

#include <algorithm>

#include "run/fault_life.hpp"
#include "run/remote.hpp"

namespace unplug::run {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// A look that is still under way when the node comes back could see it answer: the last one from
// outside is begun so long before the planned end.
constexpr milliseconds kLastLookBefore{800};
constexpr milliseconds kBetweenLooks{300};

// From the planned end until a session stands again: TCP doubles the time between its attempts, and
// one may have been made just before.
constexpr seconds kBackWithin{20};
constexpr seconds kLook{10};

}  // namespace

Duration FaultLife::silence() const {
  if (!fault_.cuts_off()) return Duration{0};
  return fault_.hold + stage_.bundle().lab.limits.margin + kBackWithin;
}

asio::awaitable<void> FaultLife::hold_cut_off() {
  const auto planned_end = fired_at_ + fault_.hold;
  const bool held = co_await watch_from_outside(planned_end);
  const auto stop_asked = [this] { return stopped(); };
  (void)co_await until(stage_.context.bell, stop_asked, planned_end);
  bool proved = false;
  if (!stopped()) proved = co_await prove_afterwards(planned_end);
  if (!held) {
    journal("ended_early", {{"why", "it gave an answer while it should have been cut off"}});
  } else if (!in_effect_) {
    journal("no_effect", {{"why", "from outside it was never seen cut off"}});
  } else if (proved) {
    journal("confirmed");
    stage_.context.progress.fact(fault_.id,
                                 "proved: from outside meanwhile, by its own record after");
  } else if (!stopped()) {
    journal("no_effect", {{"why", "its own record does not show it"}});
  }
  if (!in_effect_ || !proved) stage_.context.progress.fact(fault_.id, "NO PROOF of effect");
  const std::string why = stopped() ? "interrupted" : "planned";
  co_await revert(why);
}

asio::awaitable<bool> FaultLife::watch_from_outside(BootClock::time_point planned_end) {
  const Deadline last = planned_end - kLastLookBefore;
  const auto stop_asked = [this] { return stopped(); };
  while (!stopped() && BootClock::now() < last) {
    const Says says = co_await sample("verify", Of::kOutside);
    if (says == Says::kYes) seen_in_effect("provisional");
    if (says == Says::kNo && in_effect_) co_return false;
    (void)co_await until(stage_.context.bell, stop_asked, std::min(last, within(kBetweenLooks)));
  }
  co_return true;
}

asio::awaitable<bool> FaultLife::prove_afterwards(BootClock::time_point planned_end) {
  const auto margin = stage_.bundle().lab.limits.margin;
  const Deadline back_by = planned_end + margin + kBackWithin;
  const Deadline written_by = planned_end + margin + stage_.context.times.effect_within;
  while (!stopped()) {
    const bool back = co_await stage_.context.node(fault_.actor().node).connected(back_by);
    if (!back) co_return false;
    if (guard_->said().gone) co_await guard_->look(within(kLook));
    const Says says = co_await sample("verify", Of::kCutOff);
    if (says == Says::kYes) co_return true;
    // No answer is a session that went just now, and back_by bounds that; a "no" is its record's.
    const Deadline last = says == Says::kNo ? written_by : back_by;
    if (BootClock::now() >= last) co_return false;
    co_await pause(stage_.context.bell, kBetweenLooks);
  }
  co_return false;
}

}  // namespace unplug::run
