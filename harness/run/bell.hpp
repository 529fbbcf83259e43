// One condition for a whole run: whoever learns something rings, whoever waits looks again.
//
// Everything is on one event loop, so a waiter that checks its condition and then waits misses
// nothing. Waits end at their deadline too: there is no wait without one.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <list>
#include <memory>

#include "base/boot_clock.hpp"

namespace unplug::run {

namespace asio = boost::asio;

class Bell {
 public:
  explicit Bell(asio::any_io_executor executor);
  ~Bell();

  void ring();
  asio::awaitable<void> wait(Deadline deadline);  // until the next ring or the deadline

  // Until the condition holds (true) or the deadline passes (false). The condition is a
  // reference to a callable that outlives the await.
  template <class Condition>
  asio::awaitable<bool> until(Condition condition, Deadline deadline) {
    while (!condition()) {
      if (BootClock::now() >= deadline) co_return false;
      co_await wait(deadline);
    }
    co_return true;
  }

 private:
  struct Waiters;
  asio::any_io_executor executor_;
  std::unique_ptr<Waiters> waiters_;
};

}  // namespace unplug::run
