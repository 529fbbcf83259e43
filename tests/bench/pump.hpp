// The floor: libssh2 on one Asio thread and nothing else. No framing, no deadlines, no host key
// check, no heartbeat, one channel a session. What ours costs beyond this is ours.
//
// Key exchange, host key type, cipher and socket options are those of harness/ssh.
#pragma once

#include <libssh2.h>

#include <boost/asio.hpp>
#include <string>

#include "scenario/lab.hpp"

namespace unplug::bench {

namespace asio = boost::asio;

class Pump {
 public:
  explicit Pump(asio::any_io_executor executor) : socket_(executor) {}
  ~Pump();
  Pump(const Pump&) = delete;
  Pump& operator=(const Pump&) = delete;

  // Each throws when the server says no.
  asio::awaitable<void> connect(scenario::LabNode node);
  // A channel, the command, its output to the end; the exit status.
  asio::awaitable<int> exec(std::string line);

  // A command that stays, and lines to and from it.
  asio::awaitable<void> open(std::string line);
  asio::awaitable<void> write(std::string bytes);
  asio::awaitable<std::string> read_line();

 private:
  template <class Call>
  asio::awaitable<long> drive(Call call, const char* what);
  asio::awaitable<std::string> read_some();
  static ssize_t receive(libssh2_socket_t fd, void* bytes, size_t size, int flags, void** self);

  asio::ip::tcp::socket socket_;
  LIBSSH2_SESSION* session_ = nullptr;
  LIBSSH2_CHANNEL* channel_ = nullptr;
  std::string read_;
};

}  // namespace unplug::bench
