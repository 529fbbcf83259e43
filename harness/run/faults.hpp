// All faults of a run, by the moment in which they live: armed all or none, told what happens,
// and all over at the end.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "run/fault_life.hpp"

namespace unplug::run {

class Faults : public FaultNews {
 public:
  Faults(Stage& stage, const Plan& plan);

  bool empty() const { return lives_.empty(); }
  bool over(Moment moment) const;
  bool in_effect(Moment moment) const;  // each has been seen in effect, or is over
  bool stranded() const;
  BootClock::time_point last_fired() const;  // the clock's beginning when none has

  void journal_planned();

  // Every fault of that moment armed, or none: "" or why not, and then all is taken back.
  asio::awaitable<std::string> arm(Moment moment);

  void moment(Moment moment);         // it has come
  void started();                     // the target is ready
  void event(const SeenEvent& seen);  // the target said something

  // Until all of that moment are over. `at_rest`: nothing more will happen that could trigger.
  asio::awaitable<void> live(Moment moment, const bool& at_rest);

  // What has not lived by now never will: taken back, or just said.
  asio::awaitable<void> disarm_rest(std::string why);

  void fired(const FaultPlan& fault) override;
  void ended(const FaultPlan& fault) override;

 private:
  Duration now() const;
  std::vector<FaultLife*> of(Moment moment) const;

  Stage& stage_;
  std::vector<std::unique_ptr<FaultLife>> lives_;
  bool planned_ = false;
};

}  // namespace unplug::run
