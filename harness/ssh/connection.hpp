// One logged-in connection to a host, whichever transport makes it: libssh2 (session.hpp) or the
// `ssh` program (master.hpp).
//
// Its maker is told once when it is lost, after all its commands have ended as lost; not after
// close().
#pragma once

#include <boost/asio/awaitable.hpp>
#include <memory>
#include <string>
#include <string_view>

#include "process/process.hpp"
#include "ssh/login.hpp"

namespace unplug::ssh {

// sshd allows 10 (MaxSessions), and closing takes a round trip; Jepsen found 6 by experiment.
constexpr std::size_t kMostChannels = 8;

class Connection {
 public:
  virtual ~Connection() = default;

  virtual asio::awaitable<LoginResult> log_in(Login login, Deadline deadline) = 0;

  // Starts `line` in a POSIX sh. Over the limit of channels it waits for one to close.
  virtual std::shared_ptr<Process> start(std::string_view line) = 0;
  // The same for the one that must never wait (the heartbeat): a channel is kept free for it.
  virtual std::shared_ptr<Process> start_kept(std::string_view line) = 0;

  virtual bool is_up() const = 0;
  // It is of no more use, by what its owner saw (a missed heartbeat).
  virtual void lose(std::string why) = 0;
  virtual void close() = 0;
};

}  // namespace unplug::ssh
