// The same workload undisturbed: run once, kept by content hash (baseline_cache), copied into every
// run's folder. The key covers whatever could change the outputs: workload, target, parameters,
// places, machines, version.
#pragma once

#include <string>

#include "run/context.hpp"

namespace unplug::run {

struct Baseline {
  std::string key;
  bool fresh = false;   // run just now, not taken from the cache
  bool passed = false;  // the target came to rest by itself
  Duration took{};
  std::string why;  // when it did not pass
};

// Puts baseline/journal.jsonl into the run's folder, and baseline-failed/journal.jsonl where a
// first one failed and was repeated. Journals its own phase and `baseline_ref`.
asio::awaitable<Baseline> baseline(Stage& stage);

// What the baseline depends on: another key, another baseline.
std::string baseline_key(const Stage& stage);

// The hash of all files of a folder, by relative path; for keys and for run_opened.
std::string folder_sha(const std::filesystem::path& folder);

}  // namespace unplug::run
