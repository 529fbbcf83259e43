#include "process/bell.hpp"

#include <algorithm>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <list>
#include <utility>

namespace unplug {

struct Bell::Waiters {
  std::list<asio::steady_timer*> timers;
};

namespace {

constexpr auto kLongestPiece = std::chrono::seconds{1};

// In the list as long as the waiting frame lives.
template <class Waiters>
class Listed {
 public:
  Listed(std::shared_ptr<Waiters> waiters, asio::steady_timer* timer)
      : waiters_(std::move(waiters)), at_(waiters_->timers.insert(waiters_->timers.end(), timer)) {}
  ~Listed() { waiters_->timers.erase(at_); }
  Listed(const Listed&) = delete;
  Listed& operator=(const Listed&) = delete;

 private:
  std::shared_ptr<Waiters> waiters_;
  std::list<asio::steady_timer*>::iterator at_;
};

template <class Waiters>
asio::awaitable<void> wait_for_ring(asio::any_io_executor executor,
                                    std::shared_ptr<Waiters> waiters, Deadline deadline) {
  const auto left = deadline - BootClock::now();
  if (left <= BootClock::duration::zero()) co_return;
  asio::steady_timer timer(executor, std::min<BootClock::duration>(left, kLongestPiece));
  const Listed listed(std::move(waiters), &timer);
  boost::system::error_code rung;  // an aborted timer is how a ring looks
  co_await timer.async_wait(asio::redirect_error(asio::use_awaitable, rung));
}

}  // namespace

Bell::Bell(asio::any_io_executor executor)
    : executor_(std::move(executor)), waiters_(std::make_shared<Waiters>()) {}

void Bell::ring() {
  for (asio::steady_timer* timer : waiters_->timers) timer->cancel();
}

asio::awaitable<void> Bell::wait(Deadline deadline) const {
  return wait_for_ring(executor_, waiters_, deadline);
}

}  // namespace unplug
