#include "run/doctor_ssh.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "run/remote.hpp"

namespace unplug::run {
namespace {

using node::Outcome;
using Failed = node::Way::Step;

constexpr std::chrono::seconds kTrue{10};

// A channel costs some round trips and a fork; above that it is the login shell's start files, at
// every command of a run (155 ms were measured with a stock .bashrc).
constexpr std::chrono::milliseconds kQuick{50};

// What the steps of a login come to, in their order.
enum class Leg { kWay, kHostKey, kLogin };

Leg leg_of(Failed step) {
  switch (step) {
    case Failed::kHostKey:
      return Leg::kHostKey;
    case Failed::kKey:
    case Failed::kShell:
    case Failed::kNone:
      return Leg::kLogin;
    case Failed::kConfig:
    case Failed::kReach:
    case Failed::kAlgorithms:
      break;
  }
  return Leg::kWay;
}

// How the step of a stage went, given where the login failed.
Cell cell_of(const char* topic, Leg leg, const SshFacts& facts, const std::string& fine) {
  const Leg failed = leg_of(facts.way.failed);
  if (facts.login.ok() || leg < failed) return {topic, Health::kFine, fine, {}};
  if (leg > failed) return {topic, Health::kUnknown, "-", {}};
  return {topic, Health::kFailed, "FAILED", facts.login.why};
}

Cell round_trip(const SshFacts& facts) {
  if (!facts.login.ok()) return {"true", Health::kUnknown, "-", {}};
  if (!facts.round_trip) return {"true", Health::kFailed, "FAILED", reason(facts.command)};
  const std::string took = for_people(*facts.round_trip);
  if (*facts.round_trip <= kQuick) return {"true", Health::kFine, took, {}};
  return {
      "true", Health::kWarning, took,
      fmt::format("`true` took {}, more than {}: the login shell's start files are read for every "
                  "command; let them return at once in a shell that is not interactive (bash: "
                  "`case $- in *i*) ;; *) return ;; esac` at the top of ~/.bashrc)",
                  took, for_people(kQuick))};
}

}  // namespace

asio::awaitable<SshFacts> ssh_facts(std::shared_ptr<node::Node> node, scenario::LabNode stated) {
  SshFacts facts;
  facts.node = stated.name;
  facts.stated_address = stated.address;
  facts.pinned = !stated.host_key.empty();
  facts.login = co_await node->connect(within(kConnect));
  facts.way = node->way();
  std::array<Duration, 3> times{};
  for (Duration& time : times) {
    if (!facts.login.ok()) co_return facts;
    facts.command = co_await node->exec(node::Command("true"), within(kTrue));
    if (!facts.command.ok()) co_return facts;
    time = facts.command.ended - facts.command.begun;
  }
  std::ranges::sort(times);
  facts.round_trip = times[1];
  co_return facts;
}

std::vector<Cell> judge_ssh(const SshFacts& facts) {
  const node::Way& way = facts.way;
  std::vector<Cell> cells;
  cells.push_back(
      {"address", Health::kFine, way.place.empty() ? facts.stated_address : way.place, {}});
  const std::string by = way.transport.empty() ? "none" : way.transport + ": " + way.because;
  Cell transport = cell_of("transport", Leg::kWay, facts, by);
  if (transport.health == Health::kFailed) transport.text = by;
  cells.push_back(std::move(transport));
  cells.push_back(cell_of("host key", Leg::kHostKey, facts, facts.pinned ? "pinned" : "known"));
  cells.push_back(cell_of("login", Leg::kLogin, facts, "ok"));
  cells.push_back(round_trip(facts));
  return cells;
}

}  // namespace unplug::run
