#include "ssh/gate.hpp"

#include <gtest/gtest.h>

#include <boost/asio.hpp>
#include <vector>

#include "node/loop.hpp"

namespace unplug::test {
namespace {

using namespace std::chrono_literals;
using ssh::Gate;

class GateTest : public testing::Test {
 protected:
  using Place = std::shared_ptr<const Gate::Place>;

  // Starts to enter; where the place will be.
  std::shared_ptr<Place> enter(int number, BootClock::duration most = 20s) {
    auto held = std::make_shared<Place>();
    asio::co_spawn(loop_.io(), gate_->enter(within(most)),
                   [this, held, number](std::exception_ptr, Place place) {
                     ++answered_;
                     if (place) order_.push_back(number);
                     *held = std::move(place);
                   });
    return held;
  }
  void until_answered(int count) {
    ASSERT_TRUE(loop_.run_until([&] { return answered_ == count; }, 10s));
  }
  // Everything that can go on by itself has gone on.
  void settle() {
    loop_.io().restart();
    loop_.io().poll();
  }

  Loop loop_;
  std::shared_ptr<Gate> gate_ = std::make_shared<Gate>(2);
  int answered_ = 0;
  std::vector<int> order_;
};

TEST_F(GateTest, LetsInNoMoreThanItHasPlacesAndThenInOrder) {
  std::vector<std::shared_ptr<Place>> held;
  for (int i = 0; i < 5; ++i) held.push_back(enter(i));
  settle();
  EXPECT_EQ(order_, (std::vector<int>{0, 1}));
  held[1]->reset();
  until_answered(3);
  settle();
  EXPECT_EQ(order_, (std::vector<int>{0, 1, 2}));
  held[0]->reset(), held[2]->reset();
  until_answered(5);
  EXPECT_EQ(order_, (std::vector<int>{0, 1, 2, 3, 4}));
  EXPECT_EQ(gate_->most_inside(), 2u);
  held.clear();
  EXPECT_EQ(gate_->inside(), 0u);
}

TEST_F(GateTest, LetsNobodyInBeforeThoseWhoWait) {
  const auto first = enter(1), second = enter(2), third = enter(3);
  settle();
  first->reset();  // its place is third's, though third has not run yet
  const auto late = enter(4);
  settle();
  EXPECT_EQ(order_, (std::vector<int>{1, 2, 3}));
  EXPECT_EQ(gate_->inside(), 2u);
}

TEST_F(GateTest, SendsAwayWhoseDeadlineComesFirst) {
  const auto first = enter(1), second = enter(2), third = enter(3, 10ms);
  until_answered(3);
  EXPECT_EQ(*third, nullptr);
  first->reset();
  EXPECT_EQ(gate_->inside(), 1u) << "nobody waits any more";
}

TEST_F(GateTest, GivesOnThePlaceOfAWaiterThatWasDropped) {
  const auto first = enter(1), second = enter(2);
  settle();
  {
    asio::io_context gone(1);
    asio::co_spawn(gone, gate_->enter(within(20s)), asio::detached);
    gone.poll();
    first->reset();  // given to the waiter, whose loop never runs again
    EXPECT_EQ(gate_->inside(), 2u);
  }
  EXPECT_EQ(gate_->inside(), 1u);
  const auto next = enter(3);
  until_answered(3);
  EXPECT_TRUE(*next);
}

TEST_F(GateTest, EveryLoopHasItsOwnAndEveryAddressToo) {
  Loop other;
  ssh::Gates& gates = ssh::Gates::of(loop_.executor());
  EXPECT_EQ(&gates, &ssh::Gates::of(loop_.executor()));
  EXPECT_NE(&gates, &ssh::Gates::of(other.executor()));
  EXPECT_EQ(gates.to("10.0.0.1"), gates.to("10.0.0.1"));
  EXPECT_NE(gates.to("10.0.0.1"), gates.to("10.0.0.2"));
}

}  // namespace
}  // namespace unplug::test
