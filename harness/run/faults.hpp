// All faults of a run: armed all or none, told what happens, and all over at the end.
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
  bool over() const;
  bool stranded() const;

  void journal_planned();

  // Every fault armed, or none: "" or why not, and then all that was armed is taken back.
  asio::awaitable<std::string> arm_all();

  void started();                     // the target is ready
  void event(const SeenEvent& seen);  // the target said something
  asio::awaitable<void> live_all(const bool& at_rest);

  void fired(const FaultPlan& fault) override;
  void ended(const FaultPlan& fault) override;

 private:
  Duration now() const;

  Stage& stage_;
  std::vector<std::unique_ptr<FaultLife>> lives_;
};

}  // namespace unplug::run
