#include "run/clocks.hpp"

#include <gtest/gtest.h>

namespace unplug::run {
namespace {

TEST(Clocks, KnowNothingUnmeasured) {
  const Clocks clocks;
  EXPECT_FALSE(clocks.ours("node1", "boot", 5));
  EXPECT_FALSE(clocks.error("node1"));
}

TEST(Clocks, BoundANodesMomentByTheRoundTrip) {
  Clocks clocks;
  clocks.measured("node1", {1000, 50, 1200, "boot"});
  const auto ours = clocks.ours("node1", "boot", 60);
  ASSERT_TRUE(ours);
  EXPECT_EQ(ours->earliest, 1010);
  EXPECT_EQ(ours->latest, 1210);
  EXPECT_EQ(clocks.error("node1"), 100);
}

TEST(Clocks, KeepTheNarrowestRoundTripOfABoot) {
  Clocks clocks;
  clocks.measured("node1", {1000, 50, 1200, "boot"});
  clocks.measured("node1", {2000, 1090, 2020, "boot"});
  clocks.measured("node1", {3000, 2090, 3300, "boot"});
  EXPECT_EQ(clocks.error("node1"), 10);
  EXPECT_EQ(clocks.ours("node1", "boot", 1090)->earliest, 2000);
}

TEST(Clocks, ForgetABootThatIsOver) {
  Clocks clocks;
  clocks.measured("node1", {1000, 50, 1010, "first"});
  clocks.measured("node1", {5000, 7, 5900, "second"});
  EXPECT_FALSE(clocks.ours("node1", "first", 50));
  EXPECT_EQ(clocks.ours("node1", "second", 7)->latest, 5900);
}

}  // namespace
}  // namespace unplug::run
