#include "journal_builder.hpp"

namespace unplug::check {
namespace {

struct Refuses : testing::Test {
  Refuses() {
    scenario::EventPattern refused;
    refused.name = "refused";
    refused.refuses = "what";
    judging.target.events.push_back(refused);
    judging.baseline.emplace();
    judging.baseline->work(15, "worker-1", "shot-1", "begin");
    judging.baseline->work(20, "worker-1", "shot-1", "end");
    judging.expect("refuses", "", 5);
    scenario::Fault fault;
    fault.id = "mismatch";
    fault.injector = "model_mismatch";
    fault.params["model"].text = "look";
    fault.trigger = scenario::At{std::chrono::seconds{10}};
    judging.scenario.faults.push_back(fault);
  }
  void expect(Says says, const std::string& text) {
    const Finding finding = only(judging.judge(story));
    EXPECT_EQ(finding.says, says) << finding.text;
    EXPECT_NE(finding.text.find(text), std::string::npos) << finding.text;
  }
  // In effect from 20 s to 40 s.
  void mismatch() {
    story.frozen(20, 40, "mismatch");
    story.close(60);
  }
  void refused(double t, const std::string& what) {
    story.says(t, "worker-2", "refused", {{"what", what}});
  }

  Story story;
  Judging judging;
};

TEST_F(Refuses, HoldsWhenTheSeatNamesTheModelInTime) {
  refused(22, "model/look.cube");
  mismatch();
  expect(Says::kPass, "worker-2 refused model/look.cube after");
}

TEST_F(Refuses, CountsFromTheFirstTryOfASeatThatHadNoOccasionBefore) {
  story.work(30, "worker-2", "shot-2", "begin");
  refused(31, "look");
  mismatch();
  expect(Says::kPass, "worker-2 refused look after");
}

TEST_F(Refuses, FailsWhenItIsLate) {
  story.work(21, "worker-2", "shot-2", "begin");
  refused(30, "look");
  mismatch();
  expect(Says::kFail, "5 s is allowed");
}

TEST_F(Refuses, CannotTellAtTheLimit) {
  refused(25.1, "look");
  mismatch();
  expect(Says::kCannotTell, "too near");
}

TEST_F(Refuses, CannotTellWhatClocksLeaveOpen) {
  story = Story(8);
  refused(22, "look");
  mismatch();
  expect(Says::kCannotTell, "too near");
}

TEST_F(Refuses, FailsWhenAnotherThingIsNamed) {
  refused(22, "tokenizer");
  mismatch();
  expect(Says::kFail, "worker-2 refused, but named tokenizer and not look");
  judging.scenario.expect.back().names = "token";
  expect(Says::kPass, "refused tokenizer");
}

TEST_F(Refuses, FailsWhenWorkIsDoneWithTheMismatch) {
  story.work(21, "worker-2", "shot-2", "begin");
  story.work(25, "worker-2", "shot-2", "end");
  refused(22, "look");
  mismatch();
  expect(Says::kFail, "shot-2 published by worker-2 with the mismatch");
}

TEST_F(Refuses, LeavesWorkAsideThatWasBegunBefore) {
  story.work(15, "worker-2", "shot-2", "begin");
  story.work(21, "worker-2", "shot-2", "end");
  refused(22, "look");
  mismatch();
  expect(Says::kPass, "refused look");
}

TEST_F(Refuses, FailsWhenTheSeatTriesAndSaysNothing) {
  story.work(21, "worker-2", "shot-2", "begin");
  mismatch();
  expect(Says::kFail, "worker-2 did not refuse look within 5 s");
}

TEST_F(Refuses, AsksTheSeatsOfANodeThatUseTheModel) {
  judging.target.models.push_back({"look", "worker", "/model", "model.sha256"});
  story.plan("mismatch", {{"victim", nullptr}});
  refused(22, "look");
  story.fault(20, "mismatch", "fired", {{"victim", nullptr}});
  for (double t = 20.2; t < 24; t += 1) story.proof(t, "mismatch", "yes");
  story.proof(23.99, "mismatch", "yes");
  story.fault(24, "mismatch", "reverting", {{"why", "planned"}});
  story.fault(25, "mismatch", "reverted");
  story.proof(25.1, "mismatch", "yes", "reverted");
  story.close(60);
  expect(Says::kPass, "worker-2 refused look");
}

TEST_F(Refuses, CannotTellOfASeatThatNeverTried) {
  mismatch();
  expect(Says::kCannotTell, "worker-2 never tried");
}

TEST_F(Refuses, CannotTellWhenTheTargetWasStoppedTooSoon) {
  story.work(21, "worker-2", "shot-2", "begin");
  story.phase(24, "stop", "begin");
  mismatch();
  expect(Says::kCannotTell, "until it was stopped");
}

TEST_F(Refuses, CannotTellWhatMustBeNamed) {
  judging.scenario.faults.front().params.clear();
  refused(22, "look");
  mismatch();
  expect(Says::kCannotTell, "what a refusal must name is not known");
}

TEST_F(Refuses, WantsARankToEndNonZeroBeforeItsFirstStep) {
  judging.target.kind = "sharded";
  story.proc(21, "worker-2", 50, "start");
  refused(22, "look");
  Story wrong = story, silent = story;
  story.proc(23, "worker-2", 50, "gone", {{"code", 1}});
  mismatch();
  expect(Says::kPass, "refused look");
  story = wrong;
  story.proc(23, "worker-2", 50, "gone", {{"code", 0}});
  mismatch();
  expect(Says::kFail, "as if all were well");
  story = silent;
  story.frame(24, "worker-2", "", 1);
  story.proc(25, "worker-2", 50, "gone", {{"code", 1}});
  mismatch();
  expect(Says::kFail, "made a step");
}

}  // namespace
}  // namespace unplug::check
