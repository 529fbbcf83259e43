// A judged run, told to people and to machines.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "check/run_folder.hpp"

namespace unplug::reports {

// Under 40 lines: verdict, faults with proof, findings with witnesses, and what to do next.
struct TerminalStyle {
  bool color = false;
  std::string folder;  // where the run was left
  std::string repeat;  // the command that repeats it
};
std::string terminal(const check::Judged& judged, const TerminalStyle& style);

// One <testsuite>, one <testcase> per finding and per fault; cannot tell is an <error>.
std::string junit(const check::Judged& judged);

nlohmann::ordered_json result_json(const check::Judged& judged);

}  // namespace unplug::reports
