#include "embedded/sleep.hpp"

#include <gtest/gtest.h>

namespace unplug::embedded {
namespace {

using std::chrono::milliseconds;

TEST(SleepAsked, TakesSecondsWithAFraction) {
  EXPECT_EQ(sleep_asked("sleep 4"), milliseconds{4000});
  EXPECT_EQ(sleep_asked("sleep 0.25"), milliseconds{250});
}

TEST(SleepAsked, RefusesWhatIsNoSleepOrTooLong) {
  for (const char* line :
       {"", "sleep", "sleep ", "sleep 0", "sleep -1", "sleep 1m", "sleep 3601", "off"}) {
    EXPECT_EQ(sleep_asked(line), std::nullopt) << line;
  }
}

TEST(Slept, IsOneLineOfTheNodesRecord) {
  EXPECT_EQ(to_line({1'000'000'000, 7'500'000'000, 12}), "sleep 1000000000 7500000000 12\n");
}

}  // namespace
}  // namespace unplug::embedded
