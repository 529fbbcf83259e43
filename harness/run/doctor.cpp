#include "run/doctor.hpp"

#include <algorithm>
#include <boost/asio.hpp>

#include "node/ssh_node.hpp"
#include "run/doctor_ssh.hpp"
#include "run/remote.hpp"

namespace unplug::run {
namespace {

asio::awaitable<void> examine_node(asio::any_io_executor executor, const scenario::Lab& lab,
                                   std::size_t at, DoctorRow& row) {
  const scenario::LabNode& stated = lab.nodes[at];
  const std::shared_ptr<node::Node> node = node::make_ssh_node(executor, stated, lab.known_hosts);
  const SshFacts facts = co_await ssh_facts(node, stated);
  row = {stated.name, judge_ssh(facts)};
  node->close();
}

}  // namespace

std::vector<DoctorRow> examine(const scenario::Lab& lab) {
  asio::io_context io(1);
  std::vector<DoctorRow> rows(lab.nodes.size());
  std::vector<asio::awaitable<void>> tasks;
  for (std::size_t at = 0; at < rows.size(); ++at) {
    tasks.push_back(examine_node(io.get_executor(), lab, at, rows[at]));
  }
  asio::co_spawn(io, all(io.get_executor(), std::move(tasks)), [](std::exception_ptr error) {
    if (error) std::rethrow_exception(error);
  });
  io.run();
  return rows;
}

bool is_ready(const DoctorRow& row) {
  return std::ranges::all_of(row.cells, [](const Cell& cell) {
    return cell.health == Health::kFine || cell.health == Health::kWarning;
  });
}

}  // namespace unplug::run
