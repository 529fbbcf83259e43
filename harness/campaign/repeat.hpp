// The same scenarios many times, each run in an embedded lab of its own, several labs at a time.
//
//   scenarios x times -> queue -> `jobs` workers: `unplug run SCENARIO --out OUT/SCENARIO-ROUND
//   ...`
//
// A run is this program again, so that no run can touch another, nor end this one. Every run's
// folder and what it printed stay under `out`.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/boot_clock.hpp"
#include "base/error.hpp"
#include "base/units.hpp"

namespace unplug::campaign {

struct RepeatOptions {
  std::vector<std::filesystem::path> scenarios;
  std::vector<std::string> words;  // of every run: the program, "run", and its options
  int times = 1;
  int jobs = 1;
  std::filesystem::path out;  // made when it is not there
};

struct Repeated {
  std::filesystem::path scenario;
  int round = 0;  // from 1
  Exit exit = Exit::kInternal;
  Duration took{};
  std::filesystem::path folder;    // OUT/SCENARIO-ROUND: the run's folder and `output`
  std::vector<std::string> words;  // "FAIL conservation", for everything that was no pass
};

// Calls `done` at each end, in the order of ends; returns all, by scenario and round. SIGINT,
// SIGTERM and SIGHUP end the labs that run and start no more: what did not end is not returned,
// and `interrupted` is true.
struct RepeatOutcome {
  std::vector<Repeated> runs;
  bool interrupted = false;
};
RepeatOutcome repeat(const RepeatOptions& options,
                     const std::function<void(const Repeated&)>& done);

}  // namespace unplug::campaign
