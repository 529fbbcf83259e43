// One TCP socket and the libssh2 session on it. Owns both; decides nothing.
//
// libssh2 never blocks here: a call that says EAGAIN is made again when the socket is ready.
// While logging in, one coroutine makes all calls (finish); afterwards the Session does, in
// turns (session.hpp). Closing is always: socket first, then free, which then cannot wait.
#pragma once

#include <libssh2.h>

#include <boost/asio/ip/tcp.hpp>
#include <functional>
#include <memory>
#include <string>

#include "process/bell.hpp"

namespace unplug::ssh {

class Link : public std::enable_shared_from_this<Link> {
 public:
  explicit Link(asio::any_io_executor executor);
  ~Link();
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  // Resolves and connects; empty when done, else why not.
  asio::awaitable<std::string> connect(std::string host, int port, Deadline deadline);

  // Makes the session object; false when there is no memory.
  bool begin_session();
  LIBSSH2_SESSION* session() const { return session_; }

  // Makes `call` until it says something else than EAGAIN; LIBSSH2_ERROR_TIMEOUT at the deadline.
  // Move a named function in: g++ 12 destroys a lambda with captures twice when it is a temporary
  // of a co_await expression.
  asio::awaitable<int> finish(std::function<int()> call, Deadline deadline);

  // Rings `ready` and calls `on_ready` once the socket can be read, written
  // (LIBSSH2_SESSION_BLOCK_*).
  void wait_for(int directions);
  bool writable() const;
  bool half_sent() const;  // after EAGAIN: a packet of that call is half on its way
  int socket() { return socket_.native_handle(); }

  // Until the next clear_dry(), a socket that said EAGAIN is not read again: a turn that steps
  // eight channels would ask it sixteen times.
  void clear_dry() { dry_ = false; }

  bool is_open() const { return socket_.is_open(); }
  void close();

  // libssh2's own words for its last error.
  std::string last_error() const;

  std::function<void()> on_ready;
  Bell ready;

 private:
  static ssize_t receive(libssh2_socket_t fd, void* bytes, size_t size, int flags, void** link);
  static ssize_t send(libssh2_socket_t fd, const void* bytes, size_t size, int flags, void** link);
  asio::awaitable<std::string> connect_to(asio::ip::tcp::endpoint endpoint, Deadline deadline);
  void set_options();
  void socket_ready(bool& waiting);

  asio::any_io_executor executor_;
  asio::ip::tcp::socket socket_;
  LIBSSH2_SESSION* session_ = nullptr;
  bool waiting_read_ = false, waiting_write_ = false;
  bool dry_ = false;
};

}  // namespace unplug::ssh
