// restart_point of a farm, and of a sharded target.
#include "journal_builder.hpp"

namespace unplug::check {
namespace {

struct RestartPoint : testing::Test {
  Finding judge() {
    Judging judging;
    judging.target = target;
    judging.baseline.emplace();
    judging.baseline->work(15, "worker-1", "shot-1", "begin");
    judging.baseline->work(20, "worker-1", "shot-1", "end");
    judging.expect("restart_point");
    judging.scenario.expect.back().lost_at_most = lost_at_most;
    return only(judging.judge(story));
  }
  void expect(Says says, const std::string& text) {
    const Finding finding = judge();
    EXPECT_EQ(finding.says, says) << finding.text;
    EXPECT_NE(finding.text.find(text), std::string::npos) << finding.text;
  }
  void start() {
    story.items(12, "before", {{"shot-1", "queued"}, {"shot-2", "queued"}});
    story.work(13, "worker-1", "shot-1", "begin");
    story.work(15, "worker-2", "shot-2", "begin");
    story.work(18, "worker-1", "shot-1", "end");
    story.killed(20);
  }
  void recover(const Story::Items& items, bool clean = true) {
    story.phase(30, "recover", "begin");
    story.items(30.2, "after", items, clean);
    story.phase(32, "recover", "end");
  }
  void finish(const Story::Items& items) {
    story.items(45, "after", items);
    story.close(46);
  }

  Story story;
  scenario::Target target = farm_target();
  std::optional<int> lost_at_most;
};

const Story::Items kStuck{{"shot-1", "done"}, {"shot-2", "claimed"}};
const Story::Items kAllDone{{"shot-1", "done"}, {"shot-2", "done"}};

TEST_F(RestartPoint, HoldsWhenTheOpenItemIsFinishedOnce) {
  start();
  recover(kStuck);
  story.work(33, "worker-1", "shot-2", "begin");
  story.work(40, "worker-1", "shot-2", "end");
  finish(kAllDone);
  expect(Says::kPass, "each of 2 items in one state before recover; the 1 open ones came to rest");
}

TEST_F(RestartPoint, FailsWithTwoPlacesToGoOnFrom) {
  start();
  recover({{"shot-1", "done"}, {"shot-2", "claimed"}, {"shot-2", "queued"}});
  finish(kAllDone);
  expect(Says::kFail, "shot-2 in claimed and in queued: 2 places to go on from");
}

TEST_F(RestartPoint, FailsWithNone) {
  start();
  recover({{"shot-1", "done"}});
  finish(kAllDone);
  expect(Says::kFail, "shot-2 in no state: nothing to go on from");
}

TEST_F(RestartPoint, CannotTellFromATornList) {
  start();
  recover(kStuck, false);
  finish(kAllDone);
  expect(Says::kCannotTell, "torn");
}

TEST_F(RestartPoint, DoesNotTakeTheEndForThePlaceToGoOnFrom) {
  start();
  story.phase(30, "recover", "begin");
  story.phase(32, "recover", "end");
  finish(kAllDone);
  expect(Says::kCannotTell, "not listed before recover");
}

TEST_F(RestartPoint, FailsWhenWhatWasDoneIsBegunAgain) {
  start();
  recover(kStuck);
  story.work(33, "worker-1", "shot-1", "begin");
  finish(kAllDone);
  expect(Says::kFail, "shot-1 was done before recover and was begun again by worker-1");
}

TEST_F(RestartPoint, CannotTellWhatClocksPutOnEitherSideOfRecover) {
  story = Story(8);
  start();
  recover(kStuck);
  story.work(33, "worker-1", "shot-1", "begin");
  finish(kAllDone);
  expect(Says::kCannotTell, "shot-1 was done before recover and was perhaps begun again");
}

TEST_F(RestartPoint, FailsWhenAnItemIsFinishedTwice) {
  start();
  recover(kStuck);
  for (const char* seat : {"worker-1", "worker-2"}) {
    story.work(33, seat, "shot-2", "begin");
    story.work(40, seat, "shot-2", "end");
  }
  finish(kAllDone);
  expect(Says::kFail, "shot-2 was finished twice after recover");
}

TEST_F(RestartPoint, FailsWhenAnItemStaysOpen) {
  start();
  recover(kStuck);
  finish(kStuck);
  expect(Says::kFail, "shot-2 was claimed before recover and is claimed at the end");
}

TEST_F(RestartPoint, CannotTellWithoutTheEndOfTheLogs) {
  start();
  recover(kStuck);
  story.items(45, "after", kAllDone);
  story.phase(46, "capture", "begin");
  story.phase(47, "capture", "end");
  story.add(48, "run_closed", {{"reason", "done"}});
  expect(Says::kCannotTell, "not watched to the end");
}

TEST_F(RestartPoint, IsSkippedWhenTheTargetWentOnByItself) {
  start();
  finish(kAllDone);
  expect(Says::kSkipped, "nothing to restart");
}

TEST_F(RestartPoint, IsNotSkippedWhenItDidNot) {
  start();
  finish(kStuck);
  expect(Says::kCannotTell, "recover never ran, and not all items are at rest");
}

// --- sharded ---------------------------------------------------------------------------------

struct ShardedRestart : RestartPoint {
  ShardedRestart() {
    target.kind = "sharded";
    target.items.reset();
    scenario::EventPattern step;
    step.name = "step";
    step.progress = "n";
    target.events = {step};
  }
  void step(double t, const std::string& seat, int n) {
    story.says(t, seat, "step", {{"n", std::to_string(n)}});
  }
  void checkpoint(const std::string& seat, int n, bool whole = true) {
    story.add(29, "file",
              {{"role", "checkpoint"},
               {"when", "settled"},
               {"seat", seat},
               {"step", n},
               {"path", "step-" + std::to_string(n)},
               {"listed", "aa"},
               {"sha", whole ? "aa" : "bb"}});
  }
  void points_to(int n) {
    story.add(29, "file",
              {{"role", "pointer"}, {"when", "settled"}, {"step", n}, {"path", "latest"}});
  }
  // Checkpoints at 4 and, on one rank only, at 8; steps to 9 before the fault at 20 s.
  void run_to_fault() {
    for (int n = 1; n < 10; ++n) {
      step(10 + n, "worker-1", n);
      step(10 + n, "worker-2", n);
    }
    story.killed(20);
    for (const char* seat : {"worker-1", "worker-2"}) checkpoint(seat, 4);
    checkpoint("worker-1", 8);
    checkpoint("worker-2", 8, false);
  }
  void resume(int from) {
    story.phase(30, "recover", "begin");
    story.phase(32, "recover", "end");
    for (int n = from; n < from + 4; ++n) {
      step(34 + n - from, "worker-1", n);
      step(34 + n - from, "worker-2", n);
    }
    story.close(46);
  }
};

TEST_F(ShardedRestart, GoesOnFromTheGreatestStepThatIsWholeOnEveryRank) {
  run_to_fault();
  points_to(4);
  resume(5);
  expect(Says::kPass, "went on from step 4");
  lost_at_most = 5;
  expect(Says::kPass, "went on from step 4");
  lost_at_most = 4;
  expect(Says::kFail, "5 steps lost, 4 allowed");
}

TEST_F(ShardedRestart, FailsWhenTheTargetPicksAnother) {
  run_to_fault();
  points_to(8);
  resume(9);
  expect(Says::kFail, "latest names step 8, complete is step 4");
}

TEST_F(ShardedRestart, FailsWhenAStepIsSkipped) {
  run_to_fault();
  points_to(4);
  resume(6);
  expect(Says::kFail, "worker-1 made step 6, step 5 was next");
}

TEST_F(ShardedRestart, CannotTellWhichStepsClocksPutAfterRecover) {
  story = Story(8);
  run_to_fault();
  points_to(4);
  resume(6);
  expect(Says::kCannotTell, "step");
}

TEST_F(ShardedRestart, CannotTellWithoutCheckpointsRead) {
  story.killed(20);
  resume(1);
  expect(Says::kCannotTell, "no checkpoint was read");
}

}  // namespace
}  // namespace unplug::check
