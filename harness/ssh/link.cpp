#include "ssh/link.hpp"

#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <boost/asio.hpp>
#include <cerrno>
#include <optional>
#include <vector>

namespace unplug::ssh {

using asio::ip::tcp;
using boost::system::error_code;

namespace {

// The heartbeat (node/ssh_node.hpp) notices a dead peer within seconds; these let the kernel
// give up a socket that has bytes under way, should the loop itself be busy.
constexpr int kUserTimeoutMs = 15'000;
constexpr int kKeepaliveIdleSeconds = 10;

// What a callback leaves for the coroutine that waits; shared, as either may go first.
template <class T>
struct Answer {
  std::optional<T> value;
  error_code error;
};

void set_int(int fd, int level, int option, int value) {
  ::setsockopt(fd, level, option, &value, sizeof value);
}

template <class F>
void set_callback(LIBSSH2_SESSION* session, int which, F* function) {
#if LIBSSH2_VERSION_NUM >= 0x010b01
  libssh2_session_callback_set2(session, which, reinterpret_cast<libssh2_cb_generic*>(function));
#else
  libssh2_session_callback_set(session, which, reinterpret_cast<void*>(function));
#endif
}

asio::awaitable<Answer<tcp::endpoint>> resolve(asio::any_io_executor executor, Bell ready,
                                               std::string host, int port, Deadline deadline) {
  Answer<tcp::endpoint> found;
  const auto literal = asio::ip::make_address(host, found.error);
  if (!found.error) {
    found.value.emplace(literal, static_cast<unsigned short>(port));
    co_return found;
  }
  const auto answer = std::make_shared<Answer<tcp::resolver::results_type>>();
  tcp::resolver resolver(executor);
  resolver.async_resolve(host, std::to_string(port),
                         [answer, ready](error_code error, auto results) mutable {
                           answer->error = error;
                           answer->value = std::move(results);
                           ready.ring();
                         });
  while (!answer->value && BootClock::now() < deadline) co_await ready.wait(deadline);
  found.error = answer->value ? answer->error : asio::error::timed_out;
  if (!found.error && !answer->value->empty()) found.value = answer->value->begin()->endpoint();
  co_return found;
}

// What the system says, and what a person would look at next.
std::string tcp_failed(error_code error) {
  const char* next = "is the node awake, and its cable in?";
  if (error == asio::error::connection_refused) {
    next = "the host is up, but no sshd listens there: is it running, and the port right?";
  } else if (error == asio::error::host_unreachable || error == asio::error::network_unreachable) {
    next = "is the node switched on, and its address in the lab file right? try `ping`";
  }
  return "the TCP connection failed: " + error.message() + "; " + next;
}

}  // namespace

Link::Link(asio::any_io_executor executor)
    : ready(executor), executor_(executor), socket_(executor) {}

Link::~Link() {
  close();
  if (session_ == nullptr) return;
  // Nothing can be sent or waited for any more (see send); the bound is for bugs.
  for (int i = 0; i < 100 && libssh2_session_free(session_) == LIBSSH2_ERROR_EAGAIN; ++i) {
  }
}

asio::awaitable<std::string> Link::connect(std::string host, int port, Deadline deadline) {
  const auto self = shared_from_this();
  const auto found = co_await resolve(executor_, ready, host, port, deadline);
  if (!found.value) {
    co_return "the address " + host + " cannot be resolved: " + found.error.message() +
        "; correct address in the lab file, or write it as numbers";
  }
  co_return co_await connect_to(*found.value, deadline);
}

asio::awaitable<std::string> Link::connect_to(tcp::endpoint endpoint, Deadline deadline) {
  const auto self = shared_from_this();
  error_code error;
  socket_.open(endpoint.protocol(), error);
  if (error) co_return "no socket: " + error.message();
  set_options();
  const auto answer = std::make_shared<Answer<bool>>();
  socket_.async_connect(endpoint, [answer, self](error_code failed) {
    answer->error = failed;
    answer->value = true;
    self->ready.ring();
  });
  while (!answer->value && BootClock::now() < deadline) co_await ready.wait(deadline);
  if (!answer->value) {
    close();
    co_return "no answer to the TCP connection; is the node switched on and awake, and does a "
              "firewall drop what comes to this port?";
  }
  if (answer->error) co_return tcp_failed(answer->error);
  socket_.non_blocking(true, error);
  co_return std::string();
}

void Link::set_options() {
  const int fd = socket_.native_handle();
  // A local child that inherits this socket would keep the connection alive after we closed it,
  // and no command on the node would see EOF. Asio does not set it.
  ::fcntl(fd, F_SETFD, FD_CLOEXEC);
  set_int(fd, IPPROTO_TCP, TCP_NODELAY, 1);
  set_int(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
#ifdef __linux__
  set_int(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, kUserTimeoutMs);
  set_int(fd, IPPROTO_TCP, TCP_KEEPIDLE, kKeepaliveIdleSeconds);
#else
  set_int(fd, IPPROTO_TCP, TCP_KEEPALIVE, kKeepaliveIdleSeconds);
#endif
}

bool Link::begin_session() {
  session_ = libssh2_session_init_ex(nullptr, nullptr, nullptr, this);
  if (session_ == nullptr) return false;
  libssh2_session_set_blocking(session_, 0);
  set_callback(session_, LIBSSH2_CALLBACK_RECV, &Link::receive);
  set_callback(session_, LIBSSH2_CALLBACK_SEND, &Link::send);
  return true;
}

ssize_t Link::receive(libssh2_socket_t fd, void* bytes, size_t size, int flags, void** link) {
  Link& self = *static_cast<Link*>(*link);
  if (!self.is_open()) return -ENOTCONN;
  if (self.dry_) return -EAGAIN;
  const ssize_t got = ::recv(fd, bytes, size, flags);
  const int error = errno;
#ifdef __linux__
  // Nagle at sshd's side meets our delayed acknowledgement: 40 ms on the first channel after
  // login without this, 2 ms with it (measured with OpenSSH 9.2). Not sticky, hence each time; a
  // banner is read byte by byte, and a byte needs none.
  if (got > 1) set_int(fd, IPPROTO_TCP, TCP_QUICKACK, 1);
#endif
  if (got >= 0) return got;
  self.dry_ = error == EAGAIN || error == EWOULDBLOCK;
  return -error;
}

// SAFETY: libssh2 says goodbye when it is freed. The number of a closed socket may be another
// connection's by then, and would take those bytes.
ssize_t Link::send(libssh2_socket_t fd, const void* bytes, size_t size, int flags, void** link) {
  if (!static_cast<Link*>(*link)->is_open()) return -ENOTCONN;
  const ssize_t put = ::send(fd, bytes, size, flags);
  return put >= 0 ? put : -errno;
}

asio::awaitable<int> Link::finish(std::function<int()> call, Deadline deadline) {
  const auto self = shared_from_this();
  while (is_open()) {
    clear_dry();
    const int rc = call();
    if (rc != LIBSSH2_ERROR_EAGAIN) co_return rc;
    if (BootClock::now() >= deadline) co_return LIBSSH2_ERROR_TIMEOUT;
    wait_for(libssh2_session_block_directions(session_));
    co_await ready.wait(deadline);
  }
  co_return LIBSSH2_ERROR_SOCKET_DISCONNECT;
}

void Link::wait_for(int directions) {
  // 1.11 can say EAGAIN with no direction at all: then either may be what it waits for.
  if (directions == 0) directions = LIBSSH2_SESSION_BLOCK_INBOUND | LIBSSH2_SESSION_BLOCK_OUTBOUND;
  if (!is_open()) return;
  if ((directions & LIBSSH2_SESSION_BLOCK_INBOUND) != 0 && !waiting_read_) {
    waiting_read_ = true;
    socket_.async_wait(tcp::socket::wait_read, [weak = weak_from_this()](error_code) {
      if (const auto self = weak.lock()) self->socket_ready(self->waiting_read_);
    });
  }
  if ((directions & LIBSSH2_SESSION_BLOCK_OUTBOUND) != 0 && !waiting_write_) {
    waiting_write_ = true;
    socket_.async_wait(tcp::socket::wait_write, [weak = weak_from_this()](error_code) {
      if (const auto self = weak.lock()) self->socket_ready(self->waiting_write_);
    });
  }
}

void Link::socket_ready(bool& waiting) {
  waiting = false;
  ready.ring();
  if (on_ready) on_ready();
}

bool Link::writable() const {
  pollfd poll_one{const_cast<tcp::socket&>(socket_).native_handle(), POLLOUT, 0};
  return ::poll(&poll_one, 1, 0) == 1 && (poll_one.revents & POLLOUT) != 0;
}

bool Link::half_sent() const {
  return (libssh2_session_block_directions(session_) & LIBSSH2_SESSION_BLOCK_OUTBOUND) != 0;
}

void Link::close() {
  error_code ignored;
  socket_.close(ignored);
  ready.ring();
}

std::string Link::last_error() const {
  char* text = nullptr;
  int size = 0;
  const int code = libssh2_session_last_error(session_, &text, &size, 0);
  return std::string(text, static_cast<std::size_t>(size)) + " (libssh2 " + std::to_string(code) +
         ")";
}

}  // namespace unplug::ssh
