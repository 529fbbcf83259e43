// How many logins may be under way at once: each event loop has these gates (login.cpp).
//
//   log_in --> gate of the address (5) --TCP--> gate of all (64) --handshake, key--> session
//
// sshd drops connections that are not logged in yet when they are too many (MaxStartups; 10 is
// where it begins), and each handshake costs our one thread a millisecond: a thousand at once
// would keep every session that stands waiting. Who waits is let in in the order of asking.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/execution_context.hpp>
#include <cstddef>
#include <list>
#include <map>
#include <memory>
#include <string>

#include "base/boot_clock.hpp"

namespace unplug::ssh {

namespace asio = boost::asio;

class Gate : public std::enable_shared_from_this<Gate> {
 public:
  class Place;  // when it goes, who has waited longest gets one

  explicit Gate(std::size_t places) : places_(places) {}

  // Null when the deadline came first.
  asio::awaitable<std::shared_ptr<const Place>> enter(Deadline deadline);

  std::size_t inside() const { return inside_; }
  std::size_t most_inside() const { return most_inside_; }  // ever

 private:
  struct Waiter;
  std::shared_ptr<const Place> place();
  void leave();

  std::size_t places_, inside_ = 0, most_inside_ = 0;
  std::list<Waiter*> line_;
};

// The gates of one event loop.
class Gates : public asio::execution_context::service {
 public:
  static constexpr std::size_t kInAll = 64;
  static constexpr std::size_t kPerAddress = 5;

  static Gates& of(const asio::any_io_executor& executor);
  static asio::execution_context::id id;

  explicit Gates(asio::execution_context& loop) : asio::execution_context::service(loop) {}

  const std::shared_ptr<Gate>& to(const std::string& address);
  const std::shared_ptr<Gate>& all() const { return all_; }

 private:
  void shutdown() noexcept override {}

  std::shared_ptr<Gate> all_ = std::make_shared<Gate>(kInAll);
  std::map<std::string, std::shared_ptr<Gate>> to_;
};

}  // namespace unplug::ssh
