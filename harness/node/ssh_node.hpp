// A node over SSH: one session, its heartbeat, and reconnection until close().
//
//   connect --> session --(heartbeat missed, socket broke)--> lost --> back-off, log in --> session
//
// The heartbeat is our own, an echo at the other end of a channel: libssh2 counts no keepalive
// replies, so a frozen server would go unnoticed. The host key is checked again at each login.
//
// The first connect() asks the user's OpenSSH configuration, and chooses the transport: libssh2, or
// the `ssh` program. Where libssh2 turns out not to be enough, it goes on by ssh for good.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <memory>
#include <string>

#include "node/node.hpp"
#include "scenario/lab.hpp"

namespace unplug::node {

struct SshTimes {
  Duration heartbeat_every = std::chrono::seconds{2};
  Duration heartbeat_within = std::chrono::seconds{3};      // then the session is lost
  Duration backoff_first = std::chrono::milliseconds{200};  // doubled, jittered by half
  Duration backoff_most = std::chrono::seconds{2};
  Duration login_within = std::chrono::seconds{10};  // of each reconnection
};

// `known_hosts` is the lab's; empty: as OpenSSH is configured.
std::unique_ptr<Node> make_ssh_node(asio::any_io_executor executor, const scenario::LabNode& node,
                                    std::string known_hosts, SshTimes times = {});

}  // namespace unplug::node
