#include "run/remote.hpp"

#include <gtest/gtest.h>

#include "run/fake_lab.hpp"

namespace unplug::run {
namespace {

node::Outcome exited(int status, const std::string& err) {
  node::Outcome outcome;
  outcome.end = node::Outcome::End::kExited;
  outcome.status = status;
  outcome.err = err;
  return outcome;
}

TEST(LastJson, TakesTheLastObjectAmongOtherLines) {
  EXPECT_EQ(last_json("{\"a\":1}\nnoise\n{\"a\":2}\nmore noise\n").at("a"), 2);
  EXPECT_EQ(last_json("{\"a\":1}").at("a"), 1);
  EXPECT_EQ(last_json("{\"a\":1}\n{\"a\":").at("a"), 1);
}

TEST(LastJson, IsNullWhenThereIsNone) {
  EXPECT_TRUE(last_json("").is_null());
  EXPECT_TRUE(last_json("\n\n").is_null());
  EXPECT_TRUE(last_json("done\n[1]\n3\n").is_null());
}

TEST(Reason, IsTheLastLineOfStderrWithTheStatus) {
  EXPECT_EQ(reason(exited(3, "warming up\nno such process\n\n")), "no such process (exited 3)");
  EXPECT_EQ(reason(exited(4, "")), "exited 4");
}

TEST(Reason, OfACommandThatDidNotEndIsHowItWent) {
  node::Outcome lost;
  lost.why = "cable";
  lost.err = "half a line";
  EXPECT_EQ(reason(lost), "lost: cable");
}

asio::awaitable<void> counts(int& done) {
  ++done;
  co_return;
}

asio::awaitable<void> fails_at_once() {
  throw std::runtime_error("a bug of ours");
  co_return;
}

asio::awaitable<void> waits(Bell& bell, int& done) {
  co_await bell.wait(within(20ms));
  ++done;
}

TEST(All, WaitsForEveryTaskAlsoWhenOneThrows) {
  test::Loop loop;
  Bell bell(loop.executor());
  int done = 0;
  std::vector<asio::awaitable<void>> tasks;
  tasks.push_back(waits(bell, done));
  tasks.push_back(fails_at_once());
  tasks.push_back(counts(done));
  bool threw = false;
  bool over = false;
  asio::co_spawn(loop.io(), all(loop.executor(), std::move(tasks)), [&](std::exception_ptr error) {
    threw = error != nullptr;
    over = true;
  });
  ASSERT_TRUE(loop.run_until([&] { return over; }));
  EXPECT_TRUE(threw);
  EXPECT_EQ(done, 2);
}

scenario::Bundle farm_with_stop() {
  scenario::Bundle bundle = farm({});
  bundle.target.verbs.push_back({"stop", "all", 5s});
  return bundle;
}

TEST(TargetVerb, StopsAtTheFirstGroupThatFails) {
  FakeLab lab(farm_with_stop());
  lab.reply("sh sh/verb.sh farm deploy", {1, "", "no disk\n"});
  const std::string problem = lab.await(target_verb(lab.stage, "deploy"));
  EXPECT_EQ(problem, "farm deploy on node1 (server-1): no disk (exited 1)");
  EXPECT_EQ(lab.all("action").size(), 2u);  // begin and end of the server's; no worker's
}

TEST(TargetVerb, GoesOnPastFailuresWhenItTakesThingsBack) {
  FakeLab lab(farm_with_stop());
  lab.reply("sh sh/verb.sh farm stop", {1, "", "it resists\n"});
  EXPECT_NE(lab.await(target_verb(lab.stage, "stop")), "");
  EXPECT_EQ(lab.all("action").size(), 6u);  // all three seats
}

TEST(WaitReady, AsksAgainUntilTheSeatSaysYes) {
  FakeLab lab(farm_with_stop());
  int asked = 0;
  lab.answer("sh sh/verb.sh farm ready",
             [&asked](node::FakeRun& run) { run.exit(++asked < 4 ? 1 : 0); });
  EXPECT_EQ(lab.await(wait_ready(lab.stage)), "");
  EXPECT_GE(asked, 4);
}

TEST(WaitReady, EndsWhenTheRunIsStopped) {
  FakeLab lab(farm_with_stop());
  lab.reply("sh sh/verb.sh farm ready", {1, "", "still asleep\n"});
  lab.context.stop = Stop::kInterrupted;
  EXPECT_NE(lab.await(wait_ready(lab.stage)).find("still asleep"), std::string::npos);
}

}  // namespace
}  // namespace unplug::run
