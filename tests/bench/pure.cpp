// Figures of the pure layers. Where a time alone says nothing, it stands beside the work that
// nothing could do without, done in turn with ours: `times_bare` is how many times as long ours
// takes. (The column CPU is of both together.)
#include <benchmark/benchmark.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "base/sha256.hpp"
#include "journal/reader.hpp"
#include "journal/writer.hpp"
#include "run/plan_builder.hpp"
#include "run/plan_timeline.hpp"

namespace unplug {
namespace {

journal::Draft sample_event() {
  return {.kind = "proc",
          .data = {{"pid", 4711},
                   {"start", 123456},
                   {"edge", "sample"},
                   {"part", "worker"},
                   {"seat", "worker-2"},
                   {"state", "S"},
                   {"cpu_ms", 120},
                   {"rss_kb", 4096}},
          .src = "observer:procs",
          .node = "node2"};
}

constexpr int kEvents = 1000;  // written or read at a time

std::filesystem::path scratch(const char* name) {
  auto file = std::filesystem::temp_directory_path() / ("unplug-bench-" + std::string(name));
  std::filesystem::remove(file);
  return file;
}

// Alternating, so that a busy machine slows both.
template <class Bare, class Ours>
void against_bare(benchmark::State& state, Bare bare, Ours ours) {
  using Clock = std::chrono::steady_clock;
  std::chrono::duration<double> all_bare{}, all_ours{};
  for (auto _ : state) {
    const auto begin = Clock::now();
    bare();
    const auto middle = Clock::now();
    ours();
    const std::chrono::duration<double> took = Clock::now() - middle;
    all_bare += middle - begin;
    all_ours += took;
    state.SetIterationTime(took.count());
  }
  state.SetItemsProcessed(state.iterations() * kEvents);
  state.counters["times_bare"] = all_ours / all_bare;
}

// Bare: one hash and one write of a line of that length.
void journal_events(benchmark::State& state) {
  journal::Memory memory;
  const std::string line = journal::to_line(memory.append(sample_event())) + "\n";
  const auto bare_file = scratch("bare");
  const auto file = scratch("written.jsonl");
  std::ofstream out(bare_file);
  journal::Writer writer(file);
  against_bare(
      state,
      [&] {
        for (int i = 0; i < kEvents; ++i) {
          benchmark::DoNotOptimize(sha256(line));
          out << line << std::flush;
        }
      },
      [&] {
        for (int i = 0; i < kEvents; ++i) writer.append(sample_event());
      });
  std::filesystem::remove(bare_file);
  std::filesystem::remove(file);
}
BENCHMARK(journal_events)->UseManualTime()->Unit(benchmark::kMillisecond);

// Bare: each line parsed as JSON and hashed.
void read_back(benchmark::State& state) {
  const auto file = scratch("read.jsonl");
  {
    journal::Writer writer(file);
    for (int i = 0; i < kEvents; ++i) writer.append(sample_event());
  }
  against_bare(
      state,
      [&] {
        std::ifstream in(file);
        for (std::string line; std::getline(in, line);) {
          benchmark::DoNotOptimize(journal::Json::parse(line).size());
          benchmark::DoNotOptimize(sha256(line));
        }
      },
      [&] { benchmark::DoNotOptimize(journal::read(file).events.size()); });
  std::filesystem::remove(file);
}
BENCHMARK(read_back)->UseManualTime()->Unit(benchmark::kMillisecond);

// What one seed costs the tests that try thousands.
void plan_and_timeline(benchmark::State& state) {
  using namespace std::chrono_literals;
  const auto bundle =
      run::farm({run::fault("a", "process_freeze", "any worker", scenario::Between{1s, 9s}, 2s),
                 run::fault("b", "process_kill", "all worker", scenario::After{"a", 1s})});
  std::uint64_t seed = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(run::timeline(run::plan(bundle, ++seed), {}, 60s).size());
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(plan_and_timeline)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace unplug

BENCHMARK_MAIN();
