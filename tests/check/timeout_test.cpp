// rides_through, unaffected and fails_clean.
#include "journal_builder.hpp"

namespace unplug::check {
namespace {

struct Timeout : testing::Test {
  void expect(const std::string& outcome, Says says, const std::string& text) {
    Judging judging;
    judging.baseline = baseline;
    judging.expect("timeout", outcome, 5);
    const Finding finding = only(judging.judge(story));
    EXPECT_EQ(finding.says, says) << finding.text;
    EXPECT_NE(finding.text.find(text), std::string::npos) << finding.text;
  }
  void start() {
    story.items(12, "before", {{"shot-1", "queued"}, {"shot-2", "queued"}});
    story.proc(11, "worker-1", 41, "start");
    story.proc(11, "worker-2", 42, "start");
    story.work(15, "worker-2", "shot-2", "begin");
    story.frame(18, "worker-2", "shot-2", 1);
  }
  void finish(double at) {
    story.items(at, "after", {{"shot-1", "done"}, {"shot-2", "done"}});
    story.close(at + 1);
  }
  Story story;
  std::optional<Story> baseline;
};

// --- rides_through ---------------------------------------------------------------------------

TEST_F(Timeout, RidesThroughWhenProgressComesBackAfterTheRevert) {
  start();
  story.frozen(20, 24);  // verified reverted at 25
  story.frame(27, "worker-2", "shot-2", 2);
  finish(45);
  expect("rides_through", Says::kPass, "worker-2 made progress after");
}

TEST_F(Timeout, DoesNotRideThroughWithoutProgress) {
  start();
  story.frozen(20, 24);
  finish(45);
  expect("rides_through", Says::kFail, "worker-2 made no progress within 5 s");
}

TEST_F(Timeout, DoesNotTakeARepeatedCounterForProgress) {
  start();
  story.frozen(20, 24);
  story.frame(27, "worker-2", "shot-2", 1);
  finish(45);
  expect("rides_through", Says::kFail, "no progress");
}

TEST_F(Timeout, CannotTellOfNoProgressInAGap) {
  start();
  story.frozen(20, 24);
  story.observer("node2", 29, "gap", 26, 29);
  finish(45);
  expect("rides_through", Says::kCannotTell, "node2 was not watched all the time");
}

TEST_F(Timeout, CannotTellOfProgressWhenWeHelpedTooSoon) {
  start();
  story.frozen(20, 24);
  story.phase(27, "recover", "begin");
  story.frame(28, "worker-2", "shot-2", 2);
  finish(45);
  expect("rides_through", Says::kCannotTell, "until the run went on");
}

TEST_F(Timeout, RidesThroughWhenNothingIsLeftToDo) {
  start();
  story.frozen(20, 24);
  story.items(26, "poll", {{"shot-1", "done"}, {"shot-2", "done"}});
  finish(45);
  expect("rides_through", Says::kPass, "nothing was left to do");
}

TEST_F(Timeout, DoesNotRideThroughWhenARankExits) {
  start();
  story.frozen(20, 24);
  story.frame(27, "worker-2", "shot-2", 2);
  story.proc(28, "worker-1", 41, "gone", {{"code", 1}});
  finish(45);
  expect("rides_through", Says::kFail, "worker pid 41 of worker-1 at node1 ended: exit 1");
}

TEST_F(Timeout, CannotTellFromAnUnknownExitWithoutABaseline) {
  start();
  story.frozen(20, 24);
  story.frame(27, "worker-2", "shot-2", 2);
  story.proc(28, "worker-1", 41, "gone");
  finish(45);
  expect("rides_through", Says::kCannotTell, "exit unknown");
  baseline.emplace();
  expect("rides_through", Says::kFail, "exit unknown");
  baseline->proc(11, "worker-1", 41, "start");
  baseline->proc(28, "worker-1", 41, "gone");
  baseline->close(40);
  expect("rides_through", Says::kPass, "made progress");
}

TEST_F(Timeout, LetsRenderersComeAndGo) {
  start();
  story.frozen(20, 24);
  story.frame(27, "worker-2", "shot-2", 2);
  story.proc(22, "worker-1", 77, "start", nullptr, "renderer");
  story.proc(28, "worker-1", 77, "gone", nullptr, "renderer");
  finish(45);
  expect("rides_through", Says::kPass, "made progress");
}

TEST_F(Timeout, DoesNotRideThroughWhenWorkFailed) {
  start();
  story.frozen(20, 24);
  story.frame(27, "worker-2", "shot-2", 2);
  story.items(40, "after", {{"shot-1", "done"}, {"shot-2", "failed"}});
  story.close(45);
  expect("rides_through", Says::kFail, "1 items lost or failed");
}

TEST_F(Timeout, CannotTellWhenTheRevertWasNeverVerified) {
  start();
  story.plan("freeze");
  story.fault(20, "freeze", "fired");
  finish(45);
  expect("rides_through", Says::kCannotTell, "not confirmed");
}

// --- unaffected ------------------------------------------------------------------------------

TEST_F(Timeout, IsUnaffectedWhenWorkSimplyGoesOn) {
  start();
  story.frozen(20, 24);
  story.frame(21, "worker-2", "shot-2", 2);
  finish(45);
  expect("unaffected", Says::kPass, "made progress");
}

TEST_F(Timeout, IsNotUnaffectedWhenWorkIsBegunAgain) {
  start();
  story.frozen(20, 24);
  story.frame(21, "worker-2", "shot-2", 2);
  story.work(23, "worker-1", "shot-2", "begin");
  finish(45);
  expect("unaffected", Says::kFail, "shot-2 was begun again by worker-1");
}

TEST_F(Timeout, IsNotUnaffectedWhenProgressPausesTooLong) {
  start();
  story.frozen(20, 24);
  story.frame(29, "worker-2", "shot-2", 2);
  finish(45);
  expect("unaffected", Says::kFail, "5 s is allowed");
}

// --- fails_clean -----------------------------------------------------------------------------

TEST_F(Timeout, FailsCleanWhenAllRanksEndNonZeroInTime) {
  start();
  story.killed(20);
  story.proc(20.4, "worker-2", 42, "gone", {{"signal", "KILL"}});
  story.proc(23, "worker-1", 41, "gone", {{"code", 3}});
  finish(45);
  expect("fails_clean", Says::kPass, "all 2 ended; worker-1 noticed first");
}

TEST_F(Timeout, DoesNotFailCleanWhenARankHangs) {
  start();
  story.killed(20);
  story.proc(20.4, "worker-2", 42, "gone", {{"signal", "KILL"}});
  for (int t = 21; t < 40; ++t) {
    story.proc(t, "worker-1", 41, "sample", nullptr, "worker", (t - 20) * 980);
  }
  finish(45);
  expect("fails_clean", Says::kFail, "hangs busy (98 % of a core): alive 19 s later");
}

struct Hang : Timeout {
  // worker-1 stays for 19 s after the kill, and burns so many ms of CPU a second.
  void stays(int cpu_ms) {
    start();
    story.killed(20);
    story.proc(20.4, "worker-2", 42, "gone", {{"signal", "KILL"}});
    for (int t = 21; t < 40; ++t) {
      story.proc(t, "worker-1", 41, "sample", nullptr, "worker", (t - 20) * cpu_ms);
    }
  }
};

TEST_F(Hang, IsIdleUnderFivePercentAndMixedUnderTwenty) {
  const Story empty = story;
  stays(10);
  finish(45);
  expect("fails_clean", Says::kFail, "hangs idle (1 % of a core)");
  story = empty;
  stays(100);
  finish(45);
  expect("fails_clean", Says::kFail, "hangs mixed (10 % of a core)");
}

TEST_F(Hang, IsClassedByItsLastWindowOnly) {
  start();
  story.killed(20);
  for (int t = 21; t < 40; ++t) {
    story.proc(t, "worker-1", 41, "sample", nullptr, "worker", std::min(t - 20, 10) * 1000);
  }
  finish(45);
  expect("fails_clean", Says::kFail, "hangs idle (0 % of a core)");
}

TEST_F(Hang, IsNoneWhenWorkSimplyGoesOn) {
  stays(980);
  for (int t = 21; t < 40; ++t) story.frame(t, "worker-1", "shot-1", t);
  finish(45);
  expect("fails_clean", Says::kFail, "goes on as if nothing had happened");
}

TEST_F(Hang, IsNoneWhenProgressComesBackLate) {
  stays(980);
  for (int t = 30; t < 40; ++t) story.frame(t, "worker-1", "shot-1", t);
  finish(45);
  expect("fails_clean", Says::kFail, "makes progress again, late");
}

TEST_F(Hang, IsNotOfARankThatWeFroze) {
  start();
  story.frozen(20, 44);
  story.proc(23, "worker-1", 41, "gone", {{"code", 3}});
  for (int t = 21; t < 44; ++t) story.proc(t, "worker-2", 42, "sample");
  finish(50);
  expect("fails_clean", Says::kCannotTell, "pid 42 of worker-2 at node2 was not seen to end");
  expect("fails_clean", Says::kCannotTell, "worker-1 noticed first, after");
}

TEST_F(Hang, StillNamesWhoNoticedFirst) {
  stays(980);
  story.proc(11, "worker-1", 60, "start");
  story.proc(22, "worker-1", 60, "gone", {{"code", 4}});
  finish(45);
  expect("fails_clean", Says::kFail, "; worker-1 noticed first, after");
}

TEST_F(Timeout, DoesNotFailCleanWhenARankEndsAsIfAllWereWell) {
  start();
  story.killed(20);
  story.proc(20.4, "worker-2", 42, "gone", {{"signal", "KILL"}});
  story.proc(23, "worker-1", 41, "gone", {{"code", 0}});
  finish(45);
  expect("fails_clean", Says::kFail, "as if all were well");
}

TEST_F(Timeout, CannotTellFromAnUnknownExit) {
  start();
  story.killed(20);
  story.proc(20.4, "worker-2", 42, "gone", {{"signal", "KILL"}});
  story.proc(23, "worker-1", 41, "gone");
  finish(45);
  expect("fails_clean", Says::kCannotTell, "exit unknown");
}

TEST_F(Timeout, CannotTellWhenARankWasNotWatchedLongEnough) {
  start();
  story.killed(20);
  story.proc(20.4, "worker-2", 42, "gone", {{"signal", "KILL"}});
  story.proc(22, "worker-1", 41, "sample");
  finish(45);
  expect("fails_clean", Says::kCannotTell, "nor watched long enough");
}

TEST_F(Timeout, CannotTellOfAnOutcomeItDoesNotKnow) {
  start();
  story.killed(20);
  finish(45);
  expect("explodes", Says::kCannotTell, "there is no outcome");
}

}  // namespace
}  // namespace unplug::check
