#include "run/baseline.hpp"

#include <fmt/format.h>

#include <map>

#include "base/error.hpp"
#include "base/sha256.hpp"
#include "run/baseline_cache.hpp"
#include "run/exercise.hpp"
#include "run/ledger.hpp"

#ifndef UNPLUG_VERSION
#define UNPLUG_VERSION "unknown"
#endif

namespace unplug::run {
namespace {

namespace fs = std::filesystem;
using journal::Json;

// docs/semantics.md, Baseline: a failed one is repeated once; healthy targets crash at exit now and
// then.
constexpr int kTries = 2;
// Beside the one that counts, for whoever asks why a healthy target failed.
constexpr const char* kFailedBaseline = "baseline-failed";

}  // namespace

std::string baseline_key(const Stage& stage) {
  const scenario::Bundle& bundle = stage.bundle();
  Json parts = {{"version", UNPLUG_VERSION},
                {"workload", {bundle.scenario.workload.verb, bundle.scenario.workload.args}},
                {"target", folder_sha(bundle.target_file.parent_path())},
                {"params", bundle.scenario.params},
                {"place", bundle.scenario.place},
                {"versions", stage.context.versions},
                {"lab", bundle.lab.name}};
  for (const auto& node : bundle.lab.nodes) {
    const auto machine = stage.context.machines.find(node.name);
    if (machine != stage.context.machines.end()) parts["nodes"][node.name] = machine->second;
  }
  if (stage.context.patch) parts["patch"] = sha256_file(*stage.context.patch);
  for (const auto& expectation : bundle.scenario.expect) {
    if (expectation.check == "output") parts["compare"] = expectation.compare;
  }
  return sha256(parts.dump()).substr(0, 32);
}

namespace {

asio::awaitable<Baseline> attempt(Stage& stage, std::string key) {
  const fs::path own = stage.context.folder / "baseline";
  fs::remove_all(own);
  fs::create_directories(own);
  Context& context = stage.context;
  Ledger journal(own / "journal.jsonl", [&context](const std::string& why) { context.fail(why); });
  Stage undisturbed{context, journal, stage.id + ".baseline", true, own};
  Plan no_faults = stage.plan();
  no_faults.faults.clear();
  journal.append({.kind = "run_opened",
                  .data = {{"version", UNPLUG_VERSION},
                           {"run", undisturbed.id},
                           {"seed", no_faults.seed},
                           {"argv", Json::array()},
                           {"baseline", true}}});
  const Ending ending = co_await exercise(undisturbed, no_faults);
  journal.append({.kind = "run_closed", .data = {{"reason", ending.reason}, {"why", ending.why}}});
  journal.sync();
  const bool passed = ending.at_rest && ending.reason == "done";
  co_return Baseline{key, true, passed, ending.took, ending.why};
}

}  // namespace

std::string folder_sha(const fs::path& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) {
      files[fs::relative(entry.path(), folder).string()] = sha256_file(entry.path());
    }
  }
  std::string text;
  for (const auto& [name, sha] : files) text += name + " " + sha + "\n";
  return sha256(text);
}

asio::awaitable<Baseline> baseline(Stage& stage) {
  const std::string key = baseline_key(stage);
  const fs::path own = stage.context.folder / "baseline";
  Baseline made;
  if (const auto took = baseline_from_cache(key, own)) {
    made = {key, false, true, *took, ""};
  } else {
    stage.journal.append({.kind = "phase", .data = {{"name", "baseline"}, {"edge", "begin"}}});
    for (int i = 0; i < kTries && !made.passed && stage.context.stop == Stop::kNo; ++i) {
      if (i > 0) {
        stage.note("the baseline failed and is repeated once: " + made.why);
        fs::rename(own, stage.context.folder / kFailedBaseline);
      }
      made = co_await attempt(stage, key);
    }
    stage.journal.append({.kind = "phase", .data = {{"name", "baseline"}, {"edge", "end"}}});
    if (made.passed) keep_baseline(key, own, made.took);
  }
  stage.journal.append({.kind = "baseline_ref",
                        .data = {{"key", made.key},
                                 {"fresh", made.fresh},
                                 {"passed", made.passed},
                                 {"took_ms", made.took.count() / 1'000'000},
                                 {"why", made.why}}});
  co_return made;
}

}  // namespace unplug::run
