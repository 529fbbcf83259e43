#include <memory>
#include <stdexcept>

#include "bench/pump.hpp"
#include "bench/rows.hpp"
#include "bench/servers.hpp"
#include "node/ssh_node.hpp"

namespace unplug::bench {
namespace {

constexpr std::chrono::seconds kTalkWait{20};
constexpr int kAsksPerExec = 5;  // they are that much shorter

struct Talk {
  std::unique_ptr<node::Node> node;
  std::unique_ptr<Pump> pump, shell;
  std::vector<double> exec, bare_exec, ask, bare_line;
};

void must(bool well, const char* what) {
  if (!well) throw std::runtime_error(std::string(what) + " failed");
}

asio::awaitable<void> begin(Talk& talk, const scenario::LabNode& where) {
  const node::Outcome reached = co_await talk.node->connect(within(kTalkWait));
  must(reached.ok(), "connect");
  co_await talk.pump->connect(where);
  co_await talk.shell->connect(where);
  co_await talk.shell->open("exec sh");
}

asio::awaitable<void> one_exec(Talk& talk) {
  double begun = wall_ms();
  node::Command command("true");
  const node::Outcome outcome = co_await talk.node->exec(std::move(command), within(kTalkWait));
  talk.exec.push_back(wall_ms() - begun);
  must(outcome.ok(), "exec");
  begun = wall_ms();
  const int status = co_await talk.pump->exec("true");
  talk.bare_exec.push_back(wall_ms() - begun);
  must(status == 0, "the pump's exec");
}

asio::awaitable<void> one_ask(Talk& talk) {
  double begun = wall_ms();
  const node::Outcome outcome = co_await talk.node->ask("echo said", within(kTalkWait));
  talk.ask.push_back(wall_ms() - begun);
  must(outcome.out == "said\n", "ask");
  begun = wall_ms();
  co_await talk.shell->write("echo said\n");
  const std::string line = co_await talk.shell->read_line();
  talk.bare_line.push_back(wall_ms() - begun);
  must(line == "said", "the pump's line");
}

asio::awaitable<void> all_rounds(Talk& talk, const scenario::LabNode& where, int rounds) {
  co_await begin(talk, where);
  for (int round = 0; round < rounds; ++round) {
    co_await one_exec(talk);
    for (int i = 0; i < kAsksPerExec; ++i) co_await one_ask(talk);
  }
}

}  // namespace

Json talk(const std::string& folder, int rounds) {
  asio::io_context loop(1);
  const auto where = read_nodes(folder, 1).front();
  Talk talk;
  talk.node = node::make_ssh_node(loop.get_executor(), where, "/dev/null");
  talk.pump = std::make_unique<Pump>(loop.get_executor());
  talk.shell = std::make_unique<Pump>(loop.get_executor());
  std::vector<asio::awaitable<void>> tasks;
  tasks.push_back(all_rounds(talk, where, rounds));
  run_all(loop, std::move(tasks));
  talk.node->close();
  return {{"exec_ms", percentiles(talk.exec)},
          {"bare_exec_ms", percentiles(talk.bare_exec)},
          {"ask_ms", percentiles(talk.ask)},
          {"bare_line_ms", percentiles(talk.bare_line)}};
}

}  // namespace unplug::bench
