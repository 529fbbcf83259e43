#include "run/bell.hpp"

#include <algorithm>
#include <boost/asio.hpp>

namespace unplug::run {

struct Bell::Waiters {
  std::list<asio::steady_timer*> timers;
};

Bell::Bell(asio::any_io_executor executor)
    : executor_(std::move(executor)), waiters_(std::make_unique<Waiters>()) {}

Bell::~Bell() = default;

void Bell::ring() {
  for (asio::steady_timer* timer : waiters_->timers) timer->cancel();
}

asio::awaitable<void> Bell::wait(Deadline deadline) {
  const auto left = std::max(BootClock::duration{0}, deadline - BootClock::now());
  asio::steady_timer timer(executor_, left);
  const auto mine = waiters_->timers.insert(waiters_->timers.end(), &timer);
  boost::system::error_code ignored;
  co_await timer.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
  waiters_->timers.erase(mine);
}

}  // namespace unplug::run
