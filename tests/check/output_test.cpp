// Outputs equal the baseline's.
#include "journal_builder.hpp"

namespace unplug::check {
namespace {

struct Output : testing::Test {
  Output() {
    judging.expect("output");
    judging.baseline.emplace();
    judging.baseline->output("shot-1", "aaaa", "f1");
    judging.baseline->output("shot-2", "bbbb", "f2");
  }
  Finding judge(bool captured = true) {
    if (captured) story.close(60);
    return only(judging.judge(story));
  }
  Judging judging;
  Story story;
};

TEST_F(Output, HoldsWhenEveryByteIsEqual) {
  story.output("shot-1", "aaaa");
  story.output("shot-2", "bbbb");
  EXPECT_EQ(judge().says, Says::kPass);
}

TEST_F(Output, FailsForOtherBytes) {
  story.output("shot-1", "aaaa");
  story.output("shot-2", "cccc");
  const Finding finding = judge();
  EXPECT_EQ(finding.says, Says::kFail);
  EXPECT_EQ(finding.text, "1 with other bytes (of 2 outputs)");
  EXPECT_EQ(finding.witnesses.at(0).text,
            "shot-2 (done/shot-2.mp4): sha256 cccc, the baseline has bbbb");
  EXPECT_EQ(finding.witnesses.at(1).journal, "baseline");
}

TEST_F(Output, ComparesFramesWhereBytesMayDiffer) {
  judging.scenario.expect[0].compare = "frames";
  story.output("shot-1", "xxxx", "f1");
  story.output("shot-2", "yyyy", "f2");
  EXPECT_EQ(judge().says, Says::kPass);
  story.output("shot-2", "yyyy", "f9");
  EXPECT_EQ(judge().says, Says::kFail);
}

TEST_F(Output, CannotTellWithoutAFramesHash) {
  judging.scenario.expect[0].compare = "frames";
  story.output("shot-1", "aaaa", "f1");
  story.output("shot-2", "bbbb");
  EXPECT_EQ(judge().says, Says::kCannotTell);
}

TEST_F(Output, CannotTellOfATargetThatNeverCameUp) {
  story = Story(0.004, true, false);
  const Finding finding = judge();
  EXPECT_EQ(finding.says, Says::kCannotTell);
  EXPECT_EQ(finding.text,
            "shot-1 (done/shot-1.mp4): the target never came up, so nothing was asked of it");
}

TEST_F(Output, MissesNothingOfAnItemThatWasToBeCancelled) {
  judging.target.items->states.push_back({"cancelled", ""});
  judging.target.items->terminal.push_back("cancelled");
  judging.target.items->cancelled = "cancelled";
  story.output("shot-1", "aaaa");
  story.items(39, "after", {{"shot-1", "done"}, {"shot-2", "cancelled"}});
  EXPECT_EQ(judge().text, "1 missing, 1 failed (of 2 outputs)") << "nobody asked for it";
  scenario::Expectation cancelled;
  cancelled.check = "cancellation";
  cancelled.items = {"shot-2"};
  judging.scenario.expect.push_back(cancelled);
  const auto result = judging.judge(story);
  EXPECT_EQ(result.findings.at(0).says, Says::kPass) << result.findings.at(0).text;
  judging.scenario.expect.back().items = {"shot-3"};
  EXPECT_EQ(judging.judge(story).findings.at(0).says, Says::kFail);
}

TEST_F(Output, FailsForMissingAndExtraOutputs) {
  story.output("shot-1", "aaaa");
  story.output("shot-9", "dddd");
  EXPECT_EQ(judge().text, "1 missing, 1 too many (of 2 outputs)");
}

TEST_F(Output, CannotTellOfMissingOutputsThatWereNotCollected) {
  story.output("shot-1", "aaaa");
  EXPECT_EQ(judge(false).says, Says::kCannotTell);
}

TEST_F(Output, FailsForAnItemThatEndedFailed) {
  story.output("shot-1", "aaaa");
  story.output("shot-2", "bbbb");
  story.items(39, "after", {{"shot-1", "done"}, {"shot-2", "failed"}});
  EXPECT_EQ(judge().text, "1 failed (of 2 outputs)");
}

TEST_F(Output, TakesTheLastCaptureOfAFile) {
  story.output("shot-1", "aaaa");
  story.output("shot-2", "half");
  story.output("shot-2", "bbbb");
  EXPECT_EQ(judge().says, Says::kPass);
}

TEST_F(Output, CannotTellWithoutABaselineThatPassed) {
  story.output("shot-1", "aaaa");
  story.baseline_ref(false);
  EXPECT_EQ(judge().text, "the baseline did not pass: exit 1");
  judging.baseline.reset();
  EXPECT_EQ(judge().says, Says::kCannotTell);
}

TEST_F(Output, CannotTellWhenTheBaselineHasNoOutputs) {
  judging.baseline = Story();
  EXPECT_EQ(judge().says, Says::kCannotTell);
}

}  // namespace
}  // namespace unplug::check
