// The folder a run leaves, read back for judging: the way in for `report`, `run` and `verify`.
//
//   runs/20261130-184150-worker-killed/
//     scenario.json target.json lab.json injectors/NAME.json   what was run (or NAME/injector.json)
//     journal.jsonl baseline/journal.jsonl                     what happened
//     files/...                                                captured files
//     healed/*.jsonl                                           guards' logs from `heal --into`
//     result.json junit.xml                                    what was judged
#pragma once

#include <filesystem>

#include "check/finding.hpp"
#include "check/judge.hpp"

namespace unplug::check {

struct Judged {
  Result result;
  scenario::Scenario scenario;
  journal::Journal journal;
};

// Throws Error(kUsage) when the folder is not one of a run.
Judged judge_folder(const std::filesystem::path& folder);

}  // namespace unplug::check
