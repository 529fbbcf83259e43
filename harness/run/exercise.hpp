// One pass of the workload over the target, with or without faults: a run, or its baseline.
//
//   upload -> deploy -> start -> arm -> [trigger .. proof .. revert]* -> settle -> recover
//          -> capture -> stop -> remove
//
// Records only. Whatever happens inside, faults are over and the target is stopped when it
// returns, except for what is stranded.
#pragma once

#include <string>
#include <vector>

#include "run/context.hpp"

namespace unplug::run {

struct Ending {
  std::string reason = "done";  // of run_closed
  std::string why;
  std::vector<std::string> problems;  // preflight refusals, each for people
  bool stranded = false;
  Duration took{};  // from started to the target at rest
  bool at_rest = false;
};

// The folder on every node, then every probe. Problems make it return at once, nothing started.
asio::awaitable<Ending> exercise(Stage& stage, const Plan& plan);

}  // namespace unplug::run
