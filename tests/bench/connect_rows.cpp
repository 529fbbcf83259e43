#include <memory>
#include <stdexcept>

#include "base/open_files.hpp"
#include "bench/pump.hpp"
#include "bench/rows.hpp"
#include "bench/servers.hpp"
#include "node/ssh_node.hpp"
#include "ssh/gate.hpp"

namespace unplug::bench {
namespace {

constexpr std::chrono::seconds kLong{120};

struct Moment {
  double wall = wall_ms(), cpu = cpu_ms();
};

Json row(std::size_t count, const Moment& begun, const Moment& connected, const Moment& ran) {
  Json row = {{"nodes", count},
              {"connect_ms", connected.wall - begun.wall},
              {"connect_cpu_ms", connected.cpu - begun.cpu},
              {"command_ms", ran.wall - connected.wall},
              {"command_cpu_ms", ran.cpu - connected.cpu},
              {"both_ms", ran.wall - begun.wall},
              {"both_cpu_ms", ran.cpu - begun.cpu}};
  row.update(memory());
  return row;
}

asio::awaitable<void> reach(node::Node& node) {
  const node::Outcome outcome = co_await node.connect(within(kLong));
  if (!outcome.ok()) throw std::runtime_error(node.name() + ": " + outcome.text());
}

asio::awaitable<void> run_true(node::Node& node) {
  node::Command command("true");
  const node::Outcome outcome = co_await node.exec(std::move(command), within(kLong));
  if (!outcome.ok()) throw std::runtime_error(node.name() + ": " + outcome.text());
}

asio::awaitable<void> run_true(Pump& pump) {
  const int status = co_await pump.exec("true");
  if (status != 0) throw std::runtime_error("true failed");
}

template <class Nodes, class Step>
void on_all(asio::io_context& loop, Nodes& nodes, Step step) {
  std::vector<asio::awaitable<void>> tasks;
  for (std::size_t i = 0; i < nodes.size(); ++i) tasks.push_back(step(*nodes[i], i));
  run_all(loop, std::move(tasks));
}

}  // namespace

Json connect_ours(const std::string& folder, std::size_t count) {
  asio::io_context loop(1);
  need_open_files_for(count);
  std::vector<std::unique_ptr<node::Node>> nodes;
  node::SshTimes times;
  times.heartbeat_within = kLong;  // hundreds of servers share these cores: slow is not dead here
  for (const auto& one : read_nodes(folder, count)) {
    nodes.push_back(node::make_ssh_node(loop.get_executor(), one, "/dev/null", times));
  }
  const Moment begun;
  on_all(loop, nodes, [](node::Node& node, std::size_t) { return reach(node); });
  const Moment connected;
  on_all(loop, nodes, [](node::Node& node, std::size_t) { return run_true(node); });
  Json result = row(count, begun, connected, Moment());
  result["most_at_once"] = ssh::Gates::of(loop.get_executor()).all()->most_inside();
  for (const auto& node : nodes) node->close();
  return result;
}

Json connect_pump(const std::string& folder, std::size_t count) {
  asio::io_context loop(1);
  const auto where = read_nodes(folder, count);
  std::vector<std::unique_ptr<Pump>> pumps;
  for (std::size_t i = 0; i < count; ++i) {
    pumps.push_back(std::make_unique<Pump>(loop.get_executor()));
  }
  const Moment begun;
  on_all(loop, pumps, [&](Pump& pump, std::size_t i) { return pump.connect(where[i]); });
  const Moment connected;
  on_all(loop, pumps, [](Pump& pump, std::size_t) { return run_true(pump); });
  return row(count, begun, connected, Moment());
}

}  // namespace unplug::bench
