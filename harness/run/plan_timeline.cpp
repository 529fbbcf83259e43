#include "run/plan_timeline.hpp"

#include <algorithm>
#include <map>

namespace unplug::run {
namespace {

// Undo and proofs of a lasting fault are believed when they hold twice, this far apart.
constexpr Duration kTwiceApart = std::chrono::seconds{1};

enum class State { kArmed, kHolding, kSettling, kEnded };

struct Life {
  const FaultPlan* fault;
  TriggerWatch watch;
  State state = State::kArmed;
  Duration next_verify{}, until{};  // of the hold, then of the proof that it is over
};

class Simulation {
 public:
  Simulation(const Plan& plan, Duration end) : end_(end) {
    for (const FaultPlan& fault : plan.faults) lives_.push_back({&fault, TriggerWatch(fault)});
    for (Life& life : lives_) add(Duration{0}, life, Step::Kind::kArm);
    for (Life& life : lives_) {
      life.watch.moment(Duration{0}, Moment::kBeforeStart);
      life.watch.started(Duration{0});
    }
  }

  std::vector<Step> run(const std::vector<SimulatedEvent>& world) {
    for (const SimulatedEvent& event : world) {
      if (event.t >= end_) break;
      advance(event.t);
      for (Life& life : lives_) life.watch.event(event.t, event.event);
    }
    advance(end_);
    finish();
    return std::move(steps_);
  }

 private:
  void add(Duration t, const Life& life, Step::Kind kind) {
    steps_.push_back({t, life.fault->instance, kind});
  }

  std::optional<Duration> next_of(const Life& life) const {
    switch (life.state) {
      case State::kArmed:
        return life.watch.due();
      case State::kHolding:
        return std::min(life.next_verify, life.until);
      case State::kSettling:
        return life.until;
      case State::kEnded:
        break;
    }
    return std::nullopt;
  }

  // Everything that is due before `t`, in order of time.
  void advance(Duration t) {
    for (;;) {
      Life* first = nullptr;
      Duration when = t;
      for (Life& life : lives_) {
        const auto next = next_of(life);
        if (next && *next < when) first = &life, when = *next;
      }
      if (first == nullptr) return;
      step(*first, when);
    }
  }

  void step(Life& life, Duration now) {
    if (life.state == State::kArmed) {
      fire(life, now);
    } else if (life.state == State::kSettling) {
      if (!life.fault->lasting) add(now, life, Step::Kind::kVerifyReverted);
      end(life, now);
    } else if (now < life.until) {
      add(now, life, Step::Kind::kVerify);
      life.next_verify = now + life.fault->verify_every;
    } else {
      add(now, life, Step::Kind::kVerify);
      revert(life, now);
    }
  }

  void fire(Life& life, Duration now) {
    add(now, life, Step::Kind::kFire);
    for (Life& other : lives_) other.watch.fired(now, life.fault->id);
    life.state = life.fault->lasting ? State::kSettling : State::kHolding;
    life.until = now + (life.fault->lasting ? kTwiceApart : life.fault->hold);
    life.next_verify = now;
  }

  void revert(Life& life, Duration now) {
    add(now, life, Step::Kind::kRevert);
    life.state = State::kSettling;
    life.until = now + kTwiceApart;
  }

  void end(Life& life, Duration now) {
    if (life.fault->lasting) add(now, life, Step::Kind::kSpent);
    life.state = State::kEnded;
    const bool all = std::ranges::all_of(lives_, [&](const Life& other) {
      return other.fault->id != life.fault->id || other.state == State::kEnded;
    });
    if (!all) return;
    for (Life& other : lives_) other.watch.ended(now, life.fault->id);
  }

  void finish() {
    for (Life& life : lives_) {
      if (life.state == State::kArmed) {
        add(end_, life, Step::Kind::kNotTriggered);
        life.state = State::kEnded;
      } else if (life.state == State::kHolding) {
        revert(life, end_);
      }
    }
    for (Life& life : lives_) {
      if (life.state == State::kSettling) step(life, life.until);
    }
  }

  Duration end_;
  std::vector<Life> lives_;
  std::vector<Step> steps_;
};

}  // namespace

std::vector<Step> timeline(const Plan& plan, const std::vector<SimulatedEvent>& world,
                           Duration end) {
  return Simulation(plan, end).run(world);
}

}  // namespace unplug::run
