// progress, and command.
#include "journal_builder.hpp"

namespace unplug::check {
namespace {

struct ProgressAgain : testing::Test {
  ProgressAgain() : story(0.004, false) {
    story.items(12, "before", {{"shot-1", "queued"}, {"shot-2", "queued"}});
    frames(story, 15, 19, 1, 1);
    story.frozen(20, 24);  // verified reverted at 25
  }
  static void frames(Story& into, int from, int to, int every, int first) {
    for (int t = from, n = first; t < to; t += every) {
      into.frame(t, "worker-2", "shot-2", n++);
    }
  }
  void expect(Says says, const std::string& text) {
    Judging judging;
    judging.baseline = baseline;
    judging.expect("progress", "", 5);
    judging.scenario.expect.back().rate = rate;
    const Finding finding = only(judging.judge(story));
    EXPECT_EQ(finding.says, says) << finding.text;
    EXPECT_NE(finding.text.find(text), std::string::npos) << finding.text;
  }

  Story story;
  std::optional<Story> baseline;
  std::optional<double> rate;
};

TEST_F(ProgressAgain, HoldsWhenTheVictimCountsOnInTime) {
  story.frame(27, "worker-2", "shot-2", 9);
  story.close(45);
  expect(Says::kPass, "worker-2 made progress after");
}

TEST_F(ProgressAgain, DoesNotTakeAnotherSeatsProgressForTheVictims) {
  story.frame(27, "worker-1", "shot-1", 1);
  story.close(45);
  expect(Says::kFail, "worker-2 made no progress within 5 s");
}

TEST_F(ProgressAgain, DoesNotTakeARepeatedCountForProgress) {
  story.frame(27, "worker-2", "shot-2", 4);
  story.close(45);
  expect(Says::kFail, "made no progress");
}

TEST_F(ProgressAgain, FailsWhenItIsLate) {
  story.frame(33, "worker-2", "shot-2", 9);
  story.close(45);
  expect(Says::kFail, "5 s is allowed");
}

TEST_F(ProgressAgain, CannotTellAtTheLimit) {
  story.frame(30.1, "worker-2", "shot-2", 9);
  story.close(45);
  expect(Says::kCannotTell, "too near");
}

TEST_F(ProgressAgain, CannotTellInAGap) {
  story.observer("node2", 29, "gap", 26, 29);
  story.close(45);
  expect(Says::kCannotTell, "node2 was not watched all the time");
}

TEST_F(ProgressAgain, CannotTellWhenNothingWasLeftToDo) {
  story.items(22, "poll", {{"shot-1", "done"}, {"shot-2", "done"}});
  story.items(44, "after", {{"shot-1", "done"}, {"shot-2", "done"}});
  story.close(45);
  expect(Says::kCannotTell, "nothing was left to do");
}

TEST_F(ProgressAgain, ComparesTheRateWithTheUndisturbedOne) {
  rate = 0.5;
  baseline.emplace(0.004, false);
  frames(*baseline, 15, 35, 1, 1);
  baseline->close(45);
  const Story before = story;
  frames(story, 26, 44, 1, 10);
  story.close(45);
  expect(Says::kPass, "of the undisturbed rate, 50 % is asked");
  story = before;
  frames(story, 26, 44, 4, 10);
  story.close(45);
  expect(Says::kFail, "of the undisturbed rate, 50 % is asked");
  story = before;
  frames(story, 26, 44, 2, 10);
  story.close(45);
  expect(Says::kCannotTell, "of the undisturbed rate, 50 % is asked");
}

TEST_F(ProgressAgain, CannotCompareRatesOfNodesThatShareCpus) {
  rate = 0.5;
  story = Story();
  frames(story, 15, 19, 1, 1);
  story.frozen(20, 24);
  frames(story, 26, 44, 1, 10);
  story.close(45);
  expect(Says::kCannotTell, "not meaningful: shared CPUs");
}

// --- command ---------------------------------------------------------------------------------

struct Command : testing::Test {
  void expect(Says says, const std::string& text) {
    Judging judging;
    judging.expect("command", "", 2);
    judging.scenario.expect.back().run = "test -d /tmp";
    const Finding finding = only(judging.judge(story));
    EXPECT_EQ(finding.says, says) << finding.text;
    EXPECT_NE(finding.text.find(text), std::string::npos) << finding.text;
  }
  void ran(const std::string& end, int status, const std::string& name = "0") {
    story.add(40, "action",
              {{"what", "command"},
               {"name", name},
               {"edge", "end"},
               {"line", "test -d /tmp"},
               {"outcome", {{"end", end}, {"status", status}, {"why", ""}}}},
              "node1");
    story.close(41);
  }
  Story story;
};

TEST_F(Command, HoldsWithExitZeroOnly) {
  const Story before = story;
  ran("exited", 0);
  expect(Says::kPass, "exit 0 at node1");
  story = before;
  ran("exited", 3);
  expect(Says::kFail, "exit 3 at node1");
}

TEST_F(Command, FailsWhenItDoesNotEndInTime) {
  ran("timed_out", 0);
  expect(Says::kFail, "did not end within 2 s at node1");
}

TEST_F(Command, CannotTellWhenItsOutcomeWasLost) {
  ran("lost", 0);
  expect(Says::kCannotTell, "its outcome is not known");
}

TEST_F(Command, CannotTellWhenItWasNeverRun) {
  ran("exited", 0, "7");
  expect(Says::kCannotTell, "the command was never run");
}

}  // namespace
}  // namespace unplug::check
