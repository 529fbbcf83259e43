#include "run/baseline.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <map>

#include "base/error.hpp"
#include "base/sha256.hpp"
#include "run/exercise.hpp"
#include "run/ledger.hpp"

#ifndef UNPLUG_VERSION
#define UNPLUG_VERSION "unknown"
#endif

namespace unplug::run {
namespace {

namespace fs = std::filesystem;
using journal::Json;

constexpr std::chrono::hours kKept{24 * 7};
// docs/semantics.md, Baseline: a failed one is repeated once; healthy targets crash at exit now and
// then.
constexpr int kTries = 2;
// Beside the one that counts, for whoever asks why a healthy target failed.
constexpr const char* kFailedBaseline = "baseline-failed";

fs::path cache() {
  const char* xdg = std::getenv("XDG_CACHE_HOME");
  const char* home = std::getenv("HOME");
  const fs::path base =
      xdg != nullptr && *xdg != '\0' ? fs::path(xdg) : fs::path(home ? home : "/") / ".cache";
  return base / "unplug" / "baseline";
}

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

bool is_kept(const fs::path& folder) {
  std::error_code ignored;
  const auto written = fs::last_write_time(folder / "baseline.json", ignored);
  return !ignored && fs::file_time_type::clock::now() - written < kKept;
}

// Into the cache by rename: a reader sees a whole baseline or none; of two writers one wins.
void keep(const fs::path& own, const std::string& key, const Baseline& made) {
  std::error_code ignored;
  const fs::path draft = cache() / fmt::format(".{}.{}", key, getpid());
  fs::create_directories(draft, ignored);
  fs::copy(own, draft, fs::copy_options::recursive, ignored);
  std::ofstream(draft / "baseline.json") << Json{{"took_ms", made.took.count() / 1'000'000}};
  fs::remove_all(cache() / key, ignored);
  fs::rename(draft, cache() / key, ignored);
  if (ignored) fs::remove_all(draft, ignored);
}

Baseline from_cache(const fs::path& own, const std::string& key) {
  fs::copy(cache() / key, own, fs::copy_options::recursive);
  std::ifstream in(own / "baseline.json");
  const Json kept = Json::parse(in, nullptr, false);
  const auto ms = kept.is_object() ? kept.value("took_ms", std::int64_t{0}) : 0;
  return {key, false, true, std::chrono::milliseconds{ms}, ""};
}

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
  if (is_kept(cache() / key)) {
    made = from_cache(own, key);
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
    if (made.passed) keep(own, key, made);
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
