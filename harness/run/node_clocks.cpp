#include "run/node_clocks.hpp"

#include <sstream>

#include "run/remote.hpp"

namespace unplug::run {
namespace {

using node::Outcome;

constexpr std::chrono::seconds kOpenClock{10};
constexpr std::chrono::seconds kTrip{5};
constexpr int kTrips = 5;

constexpr const char* kReadBoot =
    "cat /proc/sys/kernel/random/boot_id 2>/dev/null || sysctl -n kern.bootsessionuuid";

// It stays for all round trips: a process that first has to start makes one 10 ms wide. Perl,
// because no shell reads a clock finer than 10 ms by itself.
constexpr const char* kClock =
    "exec perl -MTime::HiRes=clock_gettime,time -e '$| = 1; while (<STDIN>) { "
    "printf \"%.0f %.6f\\n\", clock_gettime($^O eq \"linux\" ? 7 : 6) * 1e9, time }'";

asio::awaitable<std::string> boot_of(Stage& stage, std::string name) {
  const Outcome outcome = co_await stage.context.node(name).ask(kReadBoot, within(kTrip));
  std::istringstream text(outcome.out);
  std::string boot;
  text >> boot;
  co_return boot;
}

// False when the clock did not answer.
asio::awaitable<bool> trip(Stage& stage, std::string name, std::string boot, node::Stream& clock) {
  const auto t0 = BootClock::now().time_since_epoch().count();
  co_await clock.write_line("", within(kTrip));
  const auto answer = co_await clock.read_line(within(kTrip));
  const auto t1 = BootClock::now().time_since_epoch().count();
  std::istringstream text(answer.value_or(""));
  std::int64_t nt = 0;
  std::string wall;
  if (!(text >> nt >> wall)) co_return false;
  stage.context.clocks.measured(name, {t0, nt, t1, boot});
  stage.journal.append({.kind = "clock",
                        .data = {{"t0", t0}, {"nt", nt}, {"nwall", wall}, {"t1", t1}},
                        .node = name,
                        .node_time = journal::NodeTime{boot, nt}});
  co_return true;
}

asio::awaitable<void> clock_of(Stage& stage, std::string name) {
  const std::string boot = co_await boot_of(stage, name);
  if (boot.empty()) co_return;
  const node::Opened clock = co_await stage.context.node(name).open(kClock, within(kOpenClock));
  bool answers = clock.stream != nullptr;
  for (int i = 0; i < kTrips && answers; ++i) {
    answers = co_await trip(stage, name, boot, *clock.stream);
  }
}

}  // namespace

asio::awaitable<void> read_clocks(Stage& stage) {
  // One node after the other: another's answers in the same loop would only widen the bounds.
  for (const std::string& name : stage.plan().hosts) co_await clock_of(stage, name);
}

}  // namespace unplug::run
