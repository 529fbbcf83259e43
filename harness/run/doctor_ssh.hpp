// The doctor's questions about SSH: which way, whose host key, is the login taken, and what does a
// command in a fresh channel cost?
#pragma once

#include <memory>
#include <optional>

#include "node/node.hpp"
#include "run/doctor.hpp"

namespace unplug::run {

namespace asio = boost::asio;

struct SshFacts {
  std::string node;
  std::string stated_address;  // of the lab file
  bool pinned = false;         // the lab file has its host_key
  node::Way way;
  node::Outcome login;                 // of connect()
  node::Outcome command;               // of `true`
  std::optional<Duration> round_trip;  // of `true` in a fresh channel, the middle one of three
};

asio::awaitable<SshFacts> ssh_facts(std::shared_ptr<node::Node> node, scenario::LabNode stated);

std::vector<Cell> judge_ssh(const SshFacts& facts);  // pure

}  // namespace unplug::run
