// double_claim, zombie_work, stale_publish.
#include "journal_builder.hpp"

namespace unplug::check {
namespace {

struct ExclusiveClaim : testing::Test {
  ExclusiveClaim() {
    baseline.work(15, "worker-1", "shot-1", "begin");
    baseline.work(20, "worker-1", "shot-1", "end");
  }
  Finding judge() {
    Judging judging;
    judging.baseline = baseline;
    judging.expect("exclusive_claim");
    judging.scenario.expect.back().stop_within = stop_within;
    return only(judging.judge(story));
  }
  void expect(Says says, const std::string& text) {
    const Finding finding = judge();
    EXPECT_EQ(finding.says, says) << finding.text;
    EXPECT_NE(finding.text.find(text), std::string::npos) << finding.text;
  }
  // worker-2 takes shot-2 at 15 s.
  void claimed() {
    story.items(12, "before", {{"shot-1", "queued"}, {"shot-2", "queued"}});
    story.claims(14.8, "poll", {{"shot-1", "queued", ""}, {"shot-2", "queued", ""}});
    story.claims(15, "poll", {{"shot-1", "queued", ""}, {"shot-2", "claimed", "worker-2"}});
    story.work(15, "worker-2", "shot-2", "begin");
    story.frame(16, "worker-2", "shot-2", 1);
  }
  // It loses the item at 20 s to worker-1, which finishes it at 40 s.
  void taken_over() {
    story.claims(19.8, "poll", {{"shot-1", "done", ""}, {"shot-2", "claimed", "worker-2"}});
    story.claims(20, "poll", {{"shot-1", "done", ""}, {"shot-2", "claimed", "worker-1"}});
    story.work(20, "worker-1", "shot-2", "begin");
  }
  void finish() {
    story.work(40, "worker-1", "shot-2", "end");
    story.claims(40.2, "poll", {{"shot-1", "done", ""}, {"shot-2", "done", ""}});
    story.claims(45, "after", {{"shot-1", "done", ""}, {"shot-2", "done", ""}});
    story.close(46);
  }

  Story story, baseline;
  std::optional<Duration> stop_within;
};

TEST_F(ExclusiveClaim, HoldsWhenAClaimIsTakenOverAndItsFormerHolderStops) {
  claimed();
  taken_over();
  story.work(22, "worker-2", "shot-2", "end", "lost_claim");
  finish();
  expect(Says::kPass, "2 claims, no item held by two at once; 1 given up or lost");
}

TEST_F(ExclusiveClaim, FailsWhenTwoConsecutiveLooksShowTwoOwners) {
  claimed();
  for (const double t : {20.0, 20.2}) {
    story.claims(t, "poll",
                 {{"shot-2", "claimed", "worker-1"},
                  {"shot-2", "claimed", "worker-2"},
                  {"shot-1", "queued", ""}});
  }
  finish();
  expect(Says::kFail, "shot-2 held by worker-1 and worker-2 at once (double_claim)");
}

TEST_F(ExclusiveClaim, DoesNotCountOneLookAtARenameHalfWay) {
  claimed();
  story.claims(19.8, "poll",
               {{"shot-2", "claimed", "worker-1"}, {"shot-2", "claimed", "worker-2"}});
  story.claims(20, "poll", {{"shot-2", "claimed", "worker-1"}, {"shot-1", "queued", ""}});
  story.work(20, "worker-1", "shot-2", "begin");
  finish();
  expect(Says::kPass, "no item held by two at once");
}

TEST_F(ExclusiveClaim, DoesNotJudgeATornLook) {
  claimed();
  const std::vector<Story::Held> both{{"shot-2", "claimed", "worker-1"},
                                      {"shot-2", "claimed", "worker-2"}};
  story.claims(19.8, "poll", both, false);
  story.claims(20, "poll", {{"shot-2", "claimed", "worker-2"}, {"shot-1", "queued", ""}});
  story.claims(20.2, "poll", both, false);
  story.work(39, "worker-2", "shot-2", "end");
  finish();
  expect(Says::kPass, "no item held by two at once");
}

TEST_F(ExclusiveClaim, LeavesClaimsOfOthersAside) {
  for (const double t : {10.0, 10.2}) {
    story.claims(t, "poll", {{"old", "claimed", "worker-1"}, {"old", "claimed", "worker-2"}});
  }
  claimed();
  taken_over();
  finish();
  expect(Says::kPass, "2 claims");
}

TEST_F(ExclusiveClaim, FailsWhenAFormerHolderWorksOnForTooLong) {
  claimed();
  taken_over();
  story.frame(35, "worker-2", "shot-2", 9);
  finish();
  expect(Says::kFail, "worker-2 worked on shot-2 for");
  const Finding finding = judge();
  EXPECT_NE(finding.text.find("zombie_work"), std::string::npos) << finding.text;
  ASSERT_EQ(finding.witnesses.size(), 2u);
  EXPECT_EQ(finding.witnesses[1].text, "frame shot-2 9 by worker-2");
}

TEST_F(ExclusiveClaim, SubtractsTheTimeInWhichWeFrozeTheFormerHolder) {
  claimed();
  story.frozen(19, 31);
  taken_over();
  story.frame(35, "worker-2", "shot-2", 9);
  finish();
  expect(Says::kPass, "no item held by two at once");
}

TEST_F(ExclusiveClaim, CannotTellOfWorkThatEndsNearTheLimit) {
  claimed();
  taken_over();
  story.frame(30.1, "worker-2", "shot-2", 9);
  finish();
  expect(Says::kCannotTell, "too near to tell");
}

TEST_F(ExclusiveClaim, TakesItsLimitFromTheExpectation) {
  claimed();
  taken_over();
  story.frame(27, "worker-2", "shot-2", 9);
  finish();
  expect(Says::kPass, "for more than 10 s");
  stop_within = std::chrono::seconds{4};
  expect(Says::kFail, "4 s is allowed");
}

TEST_F(ExclusiveClaim, FailsWhenAFormerHolderPublishes) {
  claimed();
  taken_over();
  story.work(22, "worker-2", "shot-2", "end");
  finish();
  expect(Says::kFail, "shot-2 published by worker-2, who had lost it (stale_publish)");
}

TEST_F(ExclusiveClaim, CannotTellOfAPublishThatClocksPutOnEitherSide) {
  story = Story(8);
  claimed();
  taken_over();
  story.work(22, "worker-2", "shot-2", "end");
  finish();
  expect(Says::kCannotTell, "perhaps after it had lost it");
}

TEST_F(ExclusiveClaim, CannotTellWhatIsAResultWithoutABaseline) {
  claimed();
  taken_over();
  story.work(22, "worker-2", "shot-2", "end");
  finish();
  Judging judging;
  judging.expect("exclusive_claim");
  EXPECT_EQ(only(judging.judge(story)).says, Says::kCannotTell);
}

// A worker's successor on its seat takes the stale claim aside, and the item from the queue.
TEST_F(ExclusiveClaim, TellsTwoClaimsOfOneSeatApart) {
  claimed();
  const auto look = [this](double t, const std::string& name) {
    story.add(t, "snapshot",
              {{"when", "poll"},
               {"scope", "items"},
               {"clean", true},
               {"what",
                {{"items", Json::array({{{"item", "shot-2"},
                                         {"state", "claimed"},
                                         {"owner", "worker-2"},
                                         {"file", name}}})}}}},
              "node1", "observer:share", true);
  };
  look(19.8, "claimed/worker-2/shot-2.job");
  look(20, "claimed/aside/shot-2.job");
  story.work(20.05, "worker-2", "shot-2", "begin");
  look(20.2, "claimed/worker-2~2/shot-2.job");
  story.work(24, "worker-2", "shot-2", "end");
  story.claims(24.2, "poll", {{"shot-1", "done", ""}, {"shot-2", "done", ""}});
  story.claims(45, "after", {{"shot-1", "done", ""}, {"shot-2", "done", ""}});
  story.close(46);
  expect(Says::kPass, "no item held by two at once");
}

TEST_F(ExclusiveClaim, LetsAHolderPublishWhatItHolds) {
  claimed();
  story.work(25, "worker-2", "shot-2", "end");
  story.claims(25.2, "poll", {{"shot-1", "done", ""}, {"shot-2", "done", ""}});
  story.frame(26, "worker-2", "shot-1", 1);
  story.claims(45, "after", {{"shot-1", "done", ""}, {"shot-2", "done", ""}});
  story.close(46);
  expect(Says::kPass, "1 claims");
}

TEST_F(ExclusiveClaim, CannotTellWhenTheFolderWasNotWatchedAllTheTime) {
  claimed();
  story.observer("node1", 19, "gap", 16, 19);
  taken_over();
  finish();
  expect(Says::kCannotTell, "node1 were not watched all the time");
}

TEST_F(ExclusiveClaim, CannotTellWhenNoClaimWasSeen) {
  story.items(12, "before", {{"shot-1", "queued"}});
  story.items(45, "after", {{"shot-1", "done"}});
  story.close(46);
  expect(Says::kCannotTell, "no item was ever seen claimed");
}

}  // namespace
}  // namespace unplug::check
