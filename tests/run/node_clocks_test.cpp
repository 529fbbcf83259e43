// A node's clock is read over one process that stays.
#include "run/node_clocks.hpp"

#include <gtest/gtest.h>

#include "run/fake_lab.hpp"

namespace unplug::run {
namespace {

TEST(NodeClocks, JournalsRoundTripsOfTheClock) {
  FakeLab lab(farm({}));
  lab.reply("cat /proc/sys/kernel/random/boot_id", {0, "boot-1\n", ""});
  lab.answer("exec perl -MTime::HiRes", [](node::FakeRun& run) {
    run.on_line = [&run](const std::string&) { run.say("5000 1.5"); };
    run.on_eof = [&run] { run.exit(0); };
  });
  lab.await(read_clocks(lab.stage));
  EXPECT_EQ(lab.all("clock").size(), 10u);  // five of each node
  EXPECT_TRUE(lab.context.clocks.ours("node2", "boot-1", 5000));
}

// No perl, no Time::HiRes: nothing of the node can be told in our time, and nothing waits for it.
TEST(NodeClocks, AClockThatEndsIsReadNoMore) {
  FakeLab lab(farm({}));
  lab.reply("cat /proc/sys/kernel/random/boot_id", {0, "boot-1\n", ""});
  lab.reply("exec perl -MTime::HiRes", {127, "", "perl: not found\n"});
  lab.await(read_clocks(lab.stage));
  EXPECT_TRUE(lab.all("clock").empty());
  EXPECT_FALSE(lab.context.clocks.ours("node2", "boot-1", 5000));
}

}  // namespace
}  // namespace unplug::run
