#include "ssh/gate.hpp"

#include <algorithm>
#include <boost/asio/this_coro.hpp>
#include <utility>

#include "process/bell.hpp"

namespace unplug::ssh {

class Gate::Place {
 public:
  explicit Place(std::shared_ptr<Gate> gate) : gate_(std::move(gate)) {}
  ~Place() { gate_->leave(); }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;

 private:
  std::shared_ptr<Gate> gate_;
};

// In the line as long as the waiting frame lives, or until it is given a place.
struct Gate::Waiter {
  Waiter(std::shared_ptr<Gate> before, asio::any_io_executor executor)
      : gate(std::move(before)), called(std::move(executor)) {
    gate->line_.push_back(this);
  }
  ~Waiter() { gate->line_.remove(this); }
  Waiter(const Waiter&) = delete;
  Waiter& operator=(const Waiter&) = delete;

  std::shared_ptr<Gate> gate;
  std::shared_ptr<const Place> given;
  Bell called;  // of its own: a gate that rang for everybody would wake hundreds for one place
};

asio::awaitable<std::shared_ptr<const Gate::Place>> Gate::enter(Deadline deadline) {
  const auto self = shared_from_this();
  if (line_.empty() && inside_ < places_) co_return place();
  const auto executor = co_await asio::this_coro::executor;
  Waiter waiter(self, executor);
  while (!waiter.given && BootClock::now() < deadline) co_await waiter.called.wait(deadline);
  co_return std::move(waiter.given);
}

std::shared_ptr<const Gate::Place> Gate::place() {
  most_inside_ = std::max(most_inside_, ++inside_);
  return std::make_shared<const Place>(shared_from_this());
}

void Gate::leave() {
  --inside_;
  if (line_.empty()) return;
  Waiter& next = *line_.front();
  line_.pop_front();
  next.given = place();
  next.called.ring();
}

asio::execution_context::id Gates::id;

Gates& Gates::of(const asio::any_io_executor& executor) {
  return asio::use_service<Gates>(asio::query(executor, asio::execution::context));
}

const std::shared_ptr<Gate>& Gates::to(const std::string& address) {
  auto& gate = to_[address];
  if (!gate) gate = std::make_shared<Gate>(kPerAddress);
  return gate;
}

}  // namespace unplug::ssh
