#include <stdlib.h>

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>

#include "bench/pump.hpp"
#include "bench/rows.hpp"
#include "bench/servers.hpp"
#include "bench/victims.hpp"
#include "node/ssh_node.hpp"

namespace unplug::bench {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds kFireWait{180};     // arming two hundred on two cores takes a minute
constexpr std::chrono::milliseconds kSettle{500};  // what armed last has gone to sleep

// Where one node's run would be; removed at the end.
class Folder {
 public:
  Folder() {
    std::string pattern = (fs::temp_directory_path() / "unplug-bench-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp");
    path_ = pattern;
    fs::create_directory(path_ / "procs");
    fs::create_directory_symlink(fs::path(UNPLUG_TEST_ROOT) / "injectors/sh", path_ / "sh");
    fs::create_directory_symlink(fs::path(UNPLUG_TEST_ROOT) / "injectors", path_ / "injectors");
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  void record(pid_t pid, const std::string& line) const {
    std::ofstream(path_ / "procs" / std::to_string(pid)) << line;
  }
  std::string call(const std::string& vars, const std::string& verb) const {
    return fmt::format(
        "cd {} && UNPLUG_FAULT=kill UNPLUG_ROLE=victim UNPLUG_PROCESS='worker 1' "
        "UNPLUG_PROCESS_PART=worker UNPLUG_PROCESS_SEAT=worker-1 UNPLUG_PROCESS_FOUND=record "
        "UNPLUG_SIGNAL=TERM UNPLUG_TREE=no {} sh sh/verb.sh process_kill {}",
        path_.string(), vars, verb);
  }

 private:
  fs::path path_;
};

// Latencies of every node, and how far apart the first and the last were, round by round.
struct Shots {
  std::vector<double> latency, skew;

  void add(const Victims& victims, std::size_t count, BootClock::time_point decided) {
    std::vector<double> round;
    for (std::size_t i = 0; i < count; ++i) {
      victims.wait_for_hit(i);
      if (victims.hit(i) == 0) throw std::runtime_error("a fault did not reach its victim");
      round.push_back(static_cast<double>(victims.hit(i) - decided.time_since_epoch().count()) /
                      1e6);
    }
    const auto [first, last] = std::ranges::minmax(round);
    skew.push_back(last - first);
    latency.insert(latency.end(), round.begin(), round.end());
  }
  Json row(std::size_t count) const {
    return {{"nodes", count}, {"latency_ms", percentiles(latency)}, {"skew_ms", percentiles(skew)}};
  }
};

struct Armed {
  std::unique_ptr<node::Node> node;
  std::unique_ptr<Folder> folder;
  std::unique_ptr<node::Stream> guard;
};

asio::awaitable<void> reach_one(Armed& one) {
  const node::Outcome reached = co_await one.node->connect(within(kFireWait));
  if (!reached.ok()) throw std::runtime_error(reached.text());
}

asio::awaitable<void> read_until(Armed& one, const char* said) {
  for (;;) {
    const auto line = co_await one.guard->read_line(within(kFireWait));
    if (!line) throw std::runtime_error(fmt::format("the guard never said {}", said));
    if (line->find(fmt::format("\"guard\":\"{}\"", said)) != std::string::npos) co_return;
  }
}

asio::awaitable<void> arm(Armed& one) {
  node::Command command(one.folder->call("", "arm"));
  const node::Outcome armed = co_await one.node->exec(std::move(command), within(kFireWait));
  if (!armed.ok()) throw std::runtime_error("arm: " + armed.text() + ": " + armed.err);
  const std::string line = one.folder->call("UNPLUG_LEASE=600 UNPLUG_HARD=600", "guard");
  node::Opened opened = co_await one.node->open(line, within(kFireWait));
  if (!opened.stream) throw std::runtime_error("guard: " + opened.outcome.text());
  one.guard = std::move(opened.stream);
  co_await read_until(one, "armed");
}

asio::awaitable<void> fire(Armed& one) {
  (void)co_await one.guard->write_line("fire", within(kFireWait));
  co_await read_until(one, "fired");
}

asio::awaitable<void> end_guard(Armed& one) {
  (void)co_await one.guard->write_line("revert", within(kFireWait));
  co_await read_until(one, "spent");
  one.guard.reset();
}

// As many at a time as leaves a small machine time for heartbeats: on real nodes each has its own.
constexpr std::size_t kAtOnce = 10;

template <class Items, class Step>
void in_batches(asio::io_context& loop, Items& items, Step step) {
  for (std::size_t first = 0; first < items.size(); first += kAtOnce) {
    std::vector<asio::awaitable<void>> tasks;
    for (std::size_t i = first; i < std::min(first + kAtOnce, items.size()); ++i) {
      tasks.push_back(step(items[i]));
    }
    run_all(loop, std::move(tasks));
  }
}

template <class Items, class Step>
void on_each(asio::io_context& loop, Items& items, Step step) {
  std::vector<asio::awaitable<void>> tasks;
  for (auto& item : items) tasks.push_back(step(item));
  run_all(loop, std::move(tasks));
}

void settle(asio::io_context& loop) {
  loop.restart();
  loop.run_for(kSettle);
}

struct Bare {
  std::unique_ptr<Pump> pump;
  scenario::LabNode where;
};

asio::awaitable<void> connect_bare(Bare& one) { return one.pump->connect(one.where); }
asio::awaitable<void> fire_bare_one(Bare& one) {
  co_await one.pump->write("fire\n");
  (void)co_await one.pump->read_line();
}

}  // namespace

Json fire_ours(const std::string& folder, std::size_t count, int rounds) {
  asio::io_context loop(1);
  std::vector<Armed> nodes;
  for (const auto& where : read_nodes(folder, count)) {
    nodes.push_back(
        {node::make_ssh_node(loop.get_executor(), where, "/dev/null"), nullptr, nullptr});
  }
  on_each(loop, nodes, reach_one);
  Shots shots;
  for (int round = 0; round < rounds; ++round) {
    const Victims victims(count);
    for (std::size_t i = 0; i < count; ++i) {
      nodes[i].folder = std::make_unique<Folder>();
      nodes[i].folder->record(victims.pid(i), victims.record(i));
    }
    in_batches(loop, nodes, arm);
    settle(loop);
    const auto decided = BootClock::now();
    on_each(loop, nodes, fire);
    shots.add(victims, count, decided);
    in_batches(loop, nodes, end_guard);
  }
  for (const auto& one : nodes) one.node->close();
  return shots.row(count);
}

Json fire_bare(const std::string& folder, std::size_t count, int rounds) {
  asio::io_context loop(1);
  Shots shots;
  for (int round = 0; round < rounds; ++round) {
    const Victims victims(count);
    std::vector<Bare> bare;
    for (const auto& where : read_nodes(folder, count)) {
      bare.push_back({std::make_unique<Pump>(loop.get_executor()), where});
    }
    on_each(loop, bare, connect_bare);
    std::size_t next = 0;
    on_each(loop, bare, [&](Bare& one) {
      return one.pump->open(fmt::format(
          "exec sh -c 'read -r w; kill -s TERM {}; echo done; read -r w'", victims.pid(next++)));
    });
    settle(loop);
    const auto decided = BootClock::now();
    on_each(loop, bare, fire_bare_one);
    shots.add(victims, count, decided);
  }
  return shots.row(count);
}

}  // namespace unplug::bench
