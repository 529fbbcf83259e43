// Each item in exactly one state: lost, invented, doubled, torn and foreign.
#include "journal_builder.hpp"

namespace unplug::check {
namespace {

struct Conservation : testing::Test {
  Conservation() { judging.expect("conservation"); }
  Finding judge() {
    story.close(40);
    return only(judging.judge(story));
  }
  Judging judging;
  Story story;
};

const Story::Items kBoth = {{"shot-1", "queued"}, {"shot-2", "queued"}};
const Story::Items kDone = {{"shot-1", "done"}, {"shot-2", "done"}};
const Story::Items kOne = {{"shot-1", "done"}};
const Story::Items kTwice = {{"shot-1", "done"}, {"shot-2", "queued"}, {"shot-2", "done"}};

TEST_F(Conservation, HoldsWhenEachItemIsAlwaysInOneState) {
  story.items(12, "before", kBoth);
  story.items(20, "poll", {{"shot-1", "claimed"}, {"shot-2", "queued"}});
  story.items(39, "after", kDone);
  const Finding finding = judge();
  EXPECT_EQ(finding.says, Says::kPass) << finding.text;
  EXPECT_EQ(finding.text, "2 items, each in exactly one state in 3 snapshots");
}

TEST_F(Conservation, FailsForAnItemThatIsLostInTheEnd) {
  story.items(12, "before", kBoth);
  const auto seq = story.items(39, "after", kOne);
  const Finding finding = judge();
  EXPECT_EQ(finding.says, Says::kFail);
  ASSERT_EQ(finding.witnesses.size(), 1u);
  EXPECT_EQ(finding.witnesses[0].seq, seq);
  EXPECT_EQ(finding.witnesses[0].text, "shot-2 in no state: lost at the end");
}

// The list is taken after the hand-in: a fault that fires by itself on its node may come before it.
TEST_F(Conservation, FailsForAnItemThatWasBegunBeforeTheListWasTaken) {
  story.work(11, "worker-2", "shot-2", "begin");
  story.items(12, "before", kOne);
  const auto seq = story.items(39, "after", kOne);
  const Finding finding = judge();
  EXPECT_EQ(finding.says, Says::kFail);
  ASSERT_EQ(finding.witnesses.size(), 1u);
  EXPECT_GE(seq, finding.witnesses[0].seq);
}

TEST_F(Conservation, ForgivesWhatOneSnapshotAloneShows) {
  story.items(12, "before", kBoth);
  story.items(20, "poll", kOne);
  story.items(21, "poll", kTwice);
  story.items(22, "poll", kBoth);
  story.items(39, "after", kDone);
  EXPECT_EQ(judge().says, Says::kPass);
}

TEST_F(Conservation, FailsForWhatTwoSnapshotsInARowShow) {
  story.items(12, "before", kBoth);
  story.items(20, "poll", kTwice);
  story.items(21, "poll", kTwice);
  story.items(39, "after", kDone);
  const Finding finding = judge();
  EXPECT_EQ(finding.says, Says::kFail);
  EXPECT_EQ(finding.text, "1 doubled (of 2 items)");
  EXPECT_EQ(finding.witnesses.at(0).text, "shot-2 in queued and in done");
}

TEST_F(Conservation, DoesNotJudgeTornSnapshots) {
  story.items(12, "before", kBoth);
  story.items(20, "poll", kOne, false);
  story.items(21, "poll", kOne, false);
  story.items(22, "poll", kBoth);
  story.items(39, "after", kDone);
  EXPECT_EQ(judge().says, Says::kPass);
}

TEST_F(Conservation, SeesTwoInARowAcrossATornOne) {
  story.items(12, "before", kBoth);
  story.items(20, "poll", kOne);
  story.items(21, "poll", kBoth, false);
  story.items(22, "poll", kOne);
  story.items(39, "after", kDone);
  EXPECT_EQ(judge().says, Says::kFail);
}

// The folder is looked at every two seconds while targets start and faults are armed.
TEST_F(Conservation, LosesNothingThatIsStillToBeHandedIn) {
  story.items(9, "poll", {});
  story.items(11, "poll", {});
  story.items(12, "before", kBoth);
  story.items(39, "after", kDone);
  EXPECT_EQ(judge().says, Says::kPass);
}

TEST_F(Conservation, LosesFromTheFirstLookAfterTheListOn) {
  story.items(11, "poll", {});
  story.items(12, "before", kBoth);
  story.items(20, "poll", kOne);
  story.items(21, "poll", kOne);
  story.items(39, "after", kDone);
  const Finding finding = judge();
  EXPECT_EQ(finding.says, Says::kFail);
  EXPECT_EQ(finding.text, "1 lost (of 2 items)");
}

TEST_F(Conservation, FailsForAnItemThatNobodyHandedIn) {
  story.items(12, "before", kOne);
  story.items(39, "after", {{"shot-1", "done"}, {"shot-9", "done"}});
  EXPECT_EQ(judge().witnesses.at(0).text, "shot-9 was never handed in, and is in done at the end");
}

TEST_F(Conservation, FailsWhenForeignWorkChanges) {
  story.items(12, "before", kBoth, true, {"queue/theirs.job"});
  story.items(39, "after", kDone, true, {});
  const Finding finding = judge();
  EXPECT_EQ(finding.says, Says::kFail);
  EXPECT_EQ(finding.text, "1 foreign changed (of 2 items)");
}

TEST_F(Conservation, FailsWhenForeignWorkWasElsewhereInTwoSnapshotsInARow) {
  story.items(12, "before", kBoth, true, {"queue/theirs.job"});
  story.items(20, "poll", kBoth, true, {"claimed/worker-1~9.1/theirs.job"});
  story.items(21, "poll", kBoth, true, {"claimed/worker-1~9.1/theirs.job"});
  story.items(39, "after", kDone, true, {"queue/theirs.job"});
  const Finding finding = judge();
  EXPECT_EQ(finding.says, Says::kFail);
  EXPECT_EQ(finding.text, "2 foreign changed (of 2 items)");
}

struct Foreign : Conservation {
  Foreign() {
    story.items(12, "before", kBoth);
    story.items(39, "after", kDone);
  }
};

TEST_F(Foreign, MayStayAsItIs) {
  story.foreign(9, "before", "node1", {{"done/theirs.mp4", "aa"}}, {{42, "sh worker.sh"}});
  story.foreign(39.5, "after", "node1", {{"done/theirs.mp4", "aa"}}, {{42, "sh worker.sh"}});
  EXPECT_EQ(judge().says, Says::kPass);
}

TEST_F(Foreign, FailsWhenAFileHasOtherBytes) {
  story.foreign(9, "before", "node1", {{"done/theirs.mp4", "aa"}});
  const auto seq = story.foreign(39.5, "after", "node1", {{"done/theirs.mp4", "bb"}});
  const Finding finding = judge();
  EXPECT_EQ(finding.says, Says::kFail);
  ASSERT_EQ(finding.witnesses.size(), 1u);
  EXPECT_EQ(finding.witnesses[0].seq, seq);
  EXPECT_EQ(finding.witnesses[0].text, "done/theirs.mp4 is not ours and was changed at the end");
}

TEST_F(Foreign, FailsWhenAnOutputIsGone) {
  story.foreign(9, "before", "node1", {{"done/theirs.mp4", "aa"}});
  story.foreign(39.5, "after", "node1", {});
  EXPECT_EQ(judge().says, Says::kFail);
}

TEST_F(Foreign, CannotTellWithoutALastLook) {
  story.foreign(9, "before", "node1", {{"done/theirs.mp4", "aa"}});
  story.foreign(39.5, "after", "node1", {}, {}, false);
  const Finding finding = judge();
  EXPECT_EQ(finding.says, Says::kCannotTell);
  EXPECT_EQ(finding.text, "what is not ours on node1 could not be read in the end");
}

TEST_F(Foreign, CannotTellWhoEndedAProcess) {
  story.foreign(9, "before", "node2", {}, {{42, "sh worker.sh"}});
  story.foreign(39.5, "after", "node2", {}, {});
  const Finding finding = judge();
  EXPECT_EQ(finding.says, Says::kCannotTell);
  EXPECT_EQ(
      finding.text,
      "process 42 (sh worker.sh) on node2 is not ours and is gone; nothing says who ended it");
}

TEST_F(Conservation, CannotTellWithoutAFinalSnapshot) {
  story.items(12, "before", kBoth);
  story.items(20, "poll", kBoth);
  EXPECT_EQ(judge().says, Says::kCannotTell);
}

TEST_F(Conservation, CannotTellWhenTheFinalSnapshotIsTorn) {
  story.items(12, "before", kBoth);
  story.items(38, "after", kDone);
  story.items(39, "after", kOne, false);
  EXPECT_EQ(judge().says, Says::kCannotTell);
}

TEST_F(Conservation, CannotTellWithoutAList) {
  story.items(39, "after", kDone);
  EXPECT_EQ(judge().says, Says::kCannotTell);
}

TEST_F(Conservation, CannotTellOfNoItemsAtAll) {
  story.items(12, "before", {});
  story.items(39, "after", {});
  EXPECT_EQ(judge().text, "no item was handed in");
}

TEST_F(Conservation, IsJudgedAlsoWhenTheFaultWasNotConfirmed) {
  story.plan("freeze");
  story.items(12, "before", kBoth);
  story.items(39, "after", kOne);
  EXPECT_EQ(judge().says, Says::kFail);
}

}  // namespace
}  // namespace unplug::check
