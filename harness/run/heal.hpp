// Gets everything back, with nothing but the lab file: what is to be undone stands on the nodes.
//
// Asks the guards (or takes over where a guard is proven dead), stops what runs of ours left
// running, stores the guards' logs, then removes the folders. Never touches a live run, and holds
// each node's lock as long as it works there, so that none can begin.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "run/progress.hpp"
#include "scenario/lab.hpp"

namespace unplug::run {

struct HealOptions {
  std::filesystem::path out = "runs";         // runs/heal-<time>/ is made when there is something
  std::optional<std::filesystem::path> into;  // a run's folder: its logs go into healed/
  bool force = false;                         // also when a run holds the lock
};

struct Healed {
  int undone = 0;                        // faults and processes
  std::vector<std::string> left;         // still broken or running, for people
  std::vector<std::string> unreachable;  // node: why
  std::vector<std::string> in_use;       // node: by whom
  std::vector<std::string> kept;         // folders whose logs could not be stored here: node, why
  std::filesystem::path folder;          // of the logs; empty when there was nothing
};

Healed heal(const scenario::Lab& lab, const HealOptions& options, Progress& progress);

}  // namespace unplug::run
