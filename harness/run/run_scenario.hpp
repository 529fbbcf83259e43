// One scenario against one lab, from preflight to the closed journal. Judging is not done here.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "run/plan.hpp"
#include "run/progress.hpp"

namespace unplug::run {

// In the environment of a run whose lab was built for it alone.
inline constexpr const char* kLabEndsWithUs = "UNPLUG_LAB_ENDS_WITH_US";

struct RunOptions {
  std::filesystem::path out = "runs";  // the run's folder is made in it
  std::vector<std::string> argv;       // for the journal
  std::optional<std::filesystem::path> patch;
  Duration wait{};  // for a lock that another run holds
};

struct RunOutcome {
  std::filesystem::path folder;
  std::vector<std::string> refused;  // preflight problems: nothing was touched
  bool stranded = false;             // a fault could not be undone
  bool interrupted = false;          // by a signal: nobody wants the next scenario either
};

// Blocks until the run is over and healed, or stranded. SIGINT and SIGTERM heal first.
RunOutcome run_scenario(const scenario::Bundle& bundle, const Plan& plan, const RunOptions& options,
                        Progress& progress);

// What `unplug plan` needs of the nodes: reach, markers, probes. Problems; writes nothing.
std::vector<std::string> probe_lab(const scenario::Bundle& bundle, const Plan& plan,
                                   Progress& progress);

}  // namespace unplug::run
