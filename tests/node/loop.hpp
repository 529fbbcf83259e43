// One event loop for a test, and things awaited on it with a limit of its own.
#pragma once

#include <gtest/gtest.h>

#include <boost/asio.hpp>
#include <exception>
#include <functional>
#include <optional>

#include "base/boot_clock.hpp"

namespace unplug::test {

namespace asio = boost::asio;

class Loop {
 public:
  asio::io_context& io() { return io_; }
  asio::any_io_executor executor() { return io_.get_executor(); }

  // Runs the loop until the awaitable is done. Fails the test after `limit`: a hang is a bug.
  template <class T>
  T await(asio::awaitable<T> work, std::chrono::seconds limit = std::chrono::seconds{30}) {
    std::optional<T> result;
    std::exception_ptr error;
    asio::co_spawn(io_, std::move(work), [&](std::exception_ptr failed, T value) {
      error = failed;
      result = std::move(value);
    });
    run_until([&] { return result.has_value(); }, limit);
    if (error) std::rethrow_exception(error);
    if (!result) throw std::runtime_error("the test's own limit passed");
    return std::move(*result);
  }

  // Runs the loop until the condition holds; false after `limit`.
  bool run_until(const std::function<bool()>& condition,
                 std::chrono::seconds limit = std::chrono::seconds{30}) {
    const auto end = std::chrono::steady_clock::now() + limit;
    while (!condition() && std::chrono::steady_clock::now() < end) {
      io_.restart();
      io_.run_one_for(std::chrono::milliseconds{50});
    }
    return condition();
  }

 private:
  asio::io_context io_{1};
};

}  // namespace unplug::test
