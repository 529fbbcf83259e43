// A lock is taken everywhere or nowhere, and a node that does not answer costs no other its lock.
#include "run/node_locks.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "run/fake_lab.hpp"

namespace unplug::run {
namespace {

using Problems = std::vector<std::string>;

TEST(NodeLocks, TakesTheLockOnEveryNodeOrOnNone) {
  FakeLab lab(farm({}));
  lab.reply("sh -s -- take", {0, "", ""});
  EXPECT_EQ(lab.await(take_locks(lab.context, 0s)), Problems{});
  EXPECT_EQ(lab.at("node1 sh -s -- release run1"), -1);

  lab.answer("sh -s -- take", [first = true](node::FakeRun& run) mutable {
    if (std::exchange(first, false)) return run.exit(0);
    run.say("run0 mac:17 12");
    run.exit(1);
  });
  const Problems held = lab.await(take_locks(lab.context, 0s));
  ASSERT_EQ(held.size(), 1u);
  EXPECT_NE(held[0].find("in use by run run0 of mac:17, 12 s left"), std::string::npos) << held[0];
  for (const std::string& name : lab.plan.nodes) {
    const auto lines = lab.node(name).lines();
    EXPECT_NE(std::ranges::find(lines, "sh -s -- release run1"), lines.end());
  }
}

TEST(NodeLocks, QueuesForALockUntilItIsFree) {
  FakeLab lab(farm({}));
  int asked = 0;
  lab.answer("sh -s -- take", [&asked](node::FakeRun& run) {
    if (++asked > 2) return run.exit(0);
    run.say("run0 mac:17 1");
    run.exit(1);
  });
  const auto done = std::make_shared<Problems>();
  bool over = false;
  asio::co_spawn(lab.loop.io(), take_locks(lab.context, 1h), [&](std::exception_ptr, Problems got) {
    *done = std::move(got);
    over = true;
  });
  ASSERT_TRUE(lab.run_until([&] {
    lab.context.bell.ring();  // no need to wait a second
    return over;
  }));
  EXPECT_TRUE(done->empty());
}

TEST(NodeLocks, StopsQueueingWhenInterrupted) {
  FakeLab lab(farm({}));
  lab.reply("sh -s -- take", {1, "run0 mac:17 900\n", ""});
  lab.context.stop = Stop::kInterrupted;
  EXPECT_EQ(lab.await(take_locks(lab.context, 1h)).size(), 2u);
}

TEST(NodeLocks, EndsTheRunWhenALockIsNotOursAnyMore) {
  FakeLab lab(farm({}));
  lab.bundle.lab.limits.fault_lease = 30ms;
  lab.reply("cd && set -- renew", {1, "", ""});
  lab.reply("sh -s -- show", {1, "run0 mac:17 12\n", ""});
  bool done = false;
  const auto over = lab.spawn(renew_locks(lab.context, done));
  ASSERT_TRUE(lab.run_until([&] { return lab.context.stop == Stop::kInternal; }));
  EXPECT_NE(lab.context.why_stopped.find("its lock is not ours any more"), std::string::npos);
  done = true;
  lab.context.bell.ring();
  ASSERT_TRUE(lab.run_until([&] { return *over; }));
}

TEST(NodeLocks, KeepsOtherNodesLocksWhileOneDoesNotAnswer) {
  FakeLab lab(farm({}));
  lab.bundle.lab.limits.fault_lease = 30ms;
  int renewed = 0;
  lab.answer("cd && set -- renew", [&renewed](node::FakeRun& run) {
    if (++renewed == 1) return;  // never answers
    run.exit(0);
  });
  bool done = false;
  const auto over = lab.spawn(renew_locks(lab.context, done));
  ASSERT_TRUE(lab.run_until([&] { return renewed >= 5; }));
  done = true;
  lab.context.bell.ring();
  lab.node("node1").close();
  lab.node("node2").close();
  ASSERT_TRUE(lab.run_until([&] { return *over; }));
  EXPECT_EQ(lab.context.stop, Stop::kNo);
}

}  // namespace
}  // namespace unplug::run
