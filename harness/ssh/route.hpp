// How a node is reached: what the lab file states, completed by the user's own OpenSSH
// configuration (`ssh -G`), and the transport that follows from both.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "scenario/lab.hpp"
#include "ssh/connection.hpp"
#include "ssh/transport.hpp"

namespace unplug::ssh {

struct Route {
  Login login;
  Choice choice;
  bool may_change = false;  // to ssh, when libssh2 turns out not to be enough
  std::string trouble;      // not empty: there is no way, and why
};

// Asks `ssh -G` once. Without an `ssh` program the lab file alone counts, and the choice says so.
// `known_hosts` is the lab's; empty = as OpenSSH is configured.
asio::awaitable<Route> find_route(asio::any_io_executor executor, scenario::LabNode node,
                                  std::string known_hosts, Deadline deadline);

// Of `ssh`: what the lab file states of a node, and its address. Pure.
std::vector<std::string> stated_words(const scenario::LabNode& node,
                                      const std::string& known_hosts);

// Pure, but for the key files, which are looked at.
Route route_of(const scenario::LabNode& node, const std::string& known_hosts,
               const UserConfig& config);

// Goes by ssh from now on, since libssh2 failed at this step.
void change_to_ssh(Route& route, LoginResult::Step step);

std::shared_ptr<Connection> make_connection(Transport transport, asio::any_io_executor executor,
                                            std::function<void(std::string why)> on_lost);

}  // namespace unplug::ssh
