#include "bench/pump.hpp"

#include <netinet/tcp.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <functional>
#include <stdexcept>

namespace unplug::bench {

using asio::ip::tcp;

Pump::~Pump() {
  boost::system::error_code ignored;
  socket_.close(ignored);
  if (session_ != nullptr) libssh2_session_free(session_);
}

// As Link::receive does, without which the first channel after login takes 40 ms.
ssize_t Pump::receive(libssh2_socket_t fd, void* bytes, size_t size, int flags, void**) {
  const ssize_t got = ::recv(fd, bytes, size, flags);
  const int error = errno;
  const int on = 1;
  if (got > 1) ::setsockopt(fd, IPPROTO_TCP, TCP_QUICKACK, &on, sizeof on);
  return got >= 0 ? got : -error;
}

template <class Call>
asio::awaitable<long> Pump::drive(Call call, const char* what) {
  for (;;) {
    const long rc = call();
    if (rc >= 0) co_return rc;
    if (rc != LIBSSH2_ERROR_EAGAIN) {
      throw std::runtime_error(std::string(what) + ": libssh2 says " + std::to_string(rc));
    }
    const bool out = libssh2_session_block_directions(session_) & LIBSSH2_SESSION_BLOCK_OUTBOUND;
    const auto direction = out ? tcp::socket::wait_write : tcp::socket::wait_read;
    co_await socket_.async_wait(direction, asio::use_awaitable);
  }
}

asio::awaitable<void> Pump::connect(scenario::LabNode node) {
  const tcp::endpoint to(asio::ip::make_address(node.address),
                         static_cast<unsigned short>(node.port));
  co_await socket_.async_connect(to, asio::use_awaitable);
  socket_.set_option(tcp::no_delay(true));
  socket_.non_blocking(true);
  session_ = libssh2_session_init_ex(nullptr, nullptr, nullptr, this);
  libssh2_session_set_blocking(session_, 0);
#if LIBSSH2_VERSION_NUM >= 0x010b01
  libssh2_session_callback_set2(session_, LIBSSH2_CALLBACK_RECV,
                                reinterpret_cast<libssh2_cb_generic*>(&Pump::receive));
#else
  libssh2_session_callback_set(session_, LIBSSH2_CALLBACK_RECV,
                               reinterpret_cast<void*>(&Pump::receive));
#endif
  libssh2_session_method_pref(session_, LIBSSH2_METHOD_HOSTKEY, "ssh-ed25519");
  const std::string pub = node.identity + ".pub";
  std::function<long()> greet = [&] {
    return libssh2_session_handshake(session_, socket_.native_handle());
  };
  co_await drive(greet, "handshake");
  std::function<long()> sign = [&] {
    return libssh2_userauth_publickey_fromfile_ex(session_, node.user.data(),
                                                  static_cast<unsigned>(node.user.size()),
                                                  pub.c_str(), node.identity.c_str(), nullptr);
  };
  co_await drive(sign, "key");
}

asio::awaitable<void> Pump::open(std::string line) {
  std::function<long()> make = [&]() -> long {
    channel_ = libssh2_channel_open_session(session_);
    return channel_ != nullptr ? 0 : libssh2_session_last_errno(session_);
  };
  co_await drive(make, "channel");
  std::function<long()> start = [&] {
    return libssh2_channel_process_startup(channel_, "exec", 4, line.data(),
                                           static_cast<unsigned>(line.size()));
  };
  co_await drive(start, "exec");
}

asio::awaitable<std::string> Pump::read_some() {
  std::array<char, 4096> block{};
  std::function<long()> read = [&]() -> long {
    const long got = libssh2_channel_read(channel_, block.data(), block.size());
    return got == 0 && libssh2_channel_eof(channel_) == 0 ? LIBSSH2_ERROR_EAGAIN : got;
  };
  const long got = co_await drive(read, "read");
  co_return std::string(block.data(), static_cast<std::size_t>(got));
}

asio::awaitable<int> Pump::exec(std::string line) {
  co_await open(std::move(line));
  for (std::string bytes = "more"; !bytes.empty();) bytes = co_await read_some();
  std::function<long()> close = [&] { return libssh2_channel_close(channel_); };
  co_await drive(close, "close");
  std::function<long()> closed = [&] { return libssh2_channel_wait_closed(channel_); };
  co_await drive(closed, "closed");
  const int status = libssh2_channel_get_exit_status(channel_);
  std::function<long()> free = [&] { return libssh2_channel_free(channel_); };
  co_await drive(free, "free");
  co_return status;
}

asio::awaitable<void> Pump::write(std::string bytes) {
  while (!bytes.empty()) {
    std::function<long()> put = [&] {
      return libssh2_channel_write(channel_, bytes.data(), bytes.size());
    };
    const long written = co_await drive(put, "write");
    bytes.erase(0, static_cast<std::size_t>(written));
  }
}

asio::awaitable<std::string> Pump::read_line() {
  for (;;) {
    const std::size_t end = read_.find('\n');
    if (end != std::string::npos) {
      const std::string line = read_.substr(0, end);
      read_.erase(0, end + 1);
      co_return line;
    }
    const std::string more = co_await read_some();
    if (more.empty()) throw std::runtime_error("the command ended");
    read_ += more;
  }
}

}  // namespace unplug::bench
