// Figures of the pure layers, as ratios to a bare piece of the same work in the same run:
// hashing and writing a line against journaling it; one seed's plan; judging a long journal.
#include <benchmark/benchmark.h>

#include <filesystem>
#include <fstream>

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

// The work that no journal can do without: one hash and one write of a line of that length.
void hash_and_write(benchmark::State& state) {
  journal::Memory memory;
  const std::string line = journal::to_line(memory.append(sample_event())) + "\n";
  const auto file = std::filesystem::temp_directory_path() / "unplug-bench.txt";
  std::ofstream out(file);
  for (auto _ : state) {
    benchmark::DoNotOptimize(sha256(line));
    out << line << std::flush;
  }
  std::filesystem::remove(file);
}
BENCHMARK(hash_and_write);

void journal_event(benchmark::State& state) {
  const auto file = std::filesystem::temp_directory_path() / "unplug-bench.jsonl";
  std::filesystem::remove(file);
  journal::Writer writer(file);
  for (auto _ : state) writer.append(sample_event());
  std::filesystem::remove(file);
}
BENCHMARK(journal_event);

void read_back(benchmark::State& state) {
  const auto file = std::filesystem::temp_directory_path() / "unplug-bench-read.jsonl";
  std::filesystem::remove(file);
  {
    journal::Writer writer(file);
    for (int i = 0; i < 1000; ++i) writer.append(sample_event());
  }
  for (auto _ : state) benchmark::DoNotOptimize(journal::read(file).events.size());
  state.SetItemsProcessed(state.iterations() * 1000);
  std::filesystem::remove(file);
}
BENCHMARK(read_back);

void plan_and_timeline(benchmark::State& state) {
  using namespace std::chrono_literals;
  const auto bundle =
      run::farm({run::fault("a", "process_freeze", "any worker", scenario::Between{1s, 9s}, 2s),
                 run::fault("b", "process_kill", "all worker", scenario::After{"a", 1s})});
  std::uint64_t seed = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(run::timeline(run::plan(bundle, ++seed), {}, 60s).size());
  }
}
BENCHMARK(plan_and_timeline);

}  // namespace
}  // namespace unplug

BENCHMARK_MAIN();
