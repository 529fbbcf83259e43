// Wakes coroutines that wait for "something changed"; every waiter brings its own deadline.
//
// Waiters look at their condition, wait, and look again: a ring says only that looking is
// worth while. A waiter that is cancelled or whose frame is destroyed leaves nothing behind,
// and the bell may go before its waiters do.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <memory>

#include "base/boot_clock.hpp"

namespace unplug {

namespace asio = boost::asio;

class Bell {
 public:
  explicit Bell(asio::any_io_executor executor);

  void ring();

  // Until the next ring, the deadline, or one second: event loop timers stand still while the
  // machine sleeps, so a long wait is cut into pieces and the continuous clock asked again.
  asio::awaitable<void> wait(Deadline deadline) const;

 private:
  struct Waiters;
  asio::any_io_executor executor_;
  std::shared_ptr<Waiters> waiters_;
};

}  // namespace unplug
