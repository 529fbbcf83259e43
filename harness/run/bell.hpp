// Waiting for a condition that some other coroutine of the run makes true.
#pragma once

#include "base/boot_clock.hpp"
#include "base/units.hpp"
#include "process/bell.hpp"

namespace unplug::run {

namespace asio = boost::asio;

// Until the condition holds (true) or the deadline passes (false). Whoever changes what the
// condition looks at rings the bell. The condition must be a named callable of the waiting
// coroutine: GCC 12 destroys a lambda with captures inside a co_await expression twice.
template <class Condition>
asio::awaitable<bool> until(Bell& bell, const Condition& condition, Deadline deadline) {
  while (!condition()) {
    if (BootClock::now() >= deadline) co_return false;
    co_await bell.wait(deadline);
  }
  co_return true;
}
template <class Condition>
asio::awaitable<bool> until(Bell& bell, const Condition&& condition, Deadline deadline) = delete;

// A pause that no ring cuts short.
inline asio::awaitable<void> pause(Bell& bell, Duration length) {
  const Deadline end = within(length);
  while (BootClock::now() < end) co_await bell.wait(end);
}

}  // namespace unplug::run
