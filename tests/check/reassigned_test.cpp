// The victim's item is finished by someone else in time: pass, fail, cannot tell.
#include "journal_builder.hpp"

namespace unplug::check {
namespace {

struct Reassigned : testing::Test {
  Reassigned() { judging.expect("timeout", "reassigned", 10); }
  // worker-2 works on shot-2, is killed at 20 s, worker-1 takes over and is done at `done`.
  void taken_over(double done) {
    start();
    story.killed(20);
    story.proc(20.3, "worker-2", 42, "gone", {{"signal", "KILL"}});
    story.work(24, "worker-1", "shot-2", "begin");
    story.items(done - 0.2, "poll", {{"shot-2", "claimed"}});
    story.work(done, "worker-1", "shot-2", "end");
    story.items(done, "poll", {{"shot-2", "done"}});
    story.close(60);
  }
  void start() {
    story.items(12, "before", {{"shot-2", "queued"}});
    story.proc(11, "worker-2", 42, "start");
    story.work(15, "worker-2", "shot-2", "begin");
  }
  Finding judge() { return only(judging.judge(story)); }
  void expect(Says says, const std::string& text) {
    const Finding finding = judge();
    EXPECT_EQ(finding.says, says) << finding.text;
    EXPECT_NE(finding.text.find(text), std::string::npos) << finding.text;
  }
  Judging judging;
  Story story;
};

TEST_F(Reassigned, PassesWhenAnotherSeatFinishesInTime) {
  taken_over(27);
  expect(Says::kPass, "shot-2 finished by worker-1 after 7");
  EXPECT_GE(judge().witnesses.size(), 3u);
}

TEST_F(Reassigned, FailsWhenItTakesTooLong) {
  taken_over(33);
  expect(Says::kFail, "10 s is allowed");
}

TEST_F(Reassigned, CannotTellWhenItIsTooNearToTheLimit) {
  taken_over(30.05);  // the log is read every 250 ms: 9.8 s to 10.1 s
  expect(Says::kCannotTell, "too near to the allowed 10 s");
}

TEST_F(Reassigned, CannotTellWhenTheClocksAreTooUncertain) {
  Story uncertain;
  uncertain.memory.events.erase(uncertain.memory.events.begin() + 1,
                                uncertain.memory.events.begin() + 3);
  for (const char* node : {"node1", "node2"}) uncertain.clock(node, 3, 5.0);
  story = uncertain;
  taken_over(28.5);
  EXPECT_EQ(judge().says, Says::kCannotTell) << judge().text;
}

TEST_F(Reassigned, FailsWhenItStaysInTheHandsOfTheDead) {
  start();
  story.killed(20);
  for (int t = 21; t < 40; ++t) story.items(t, "poll", {{"shot-2", "claimed"}});
  story.close(60);
  expect(Says::kFail, "shot-2 was still claimed after 19 s");
}

TEST_F(Reassigned, CannotTellWhenNobodyLookedLongEnough) {
  start();
  story.killed(20);
  story.items(25, "poll", {{"shot-2", "claimed"}});
  story.close(60);
  expect(Says::kCannotTell, "shot-2 was claimed when it was last looked at");
}

TEST_F(Reassigned, PassesWhenAnotherProcessOfTheSameSeatFinishes) {
  start();
  story.killed(20);
  story.proc(20.3, "worker-2", 42, "gone", {{"signal", "KILL"}});
  story.proc(22, "worker-2", 43, "start");
  story.work(23, "worker-2", "shot-2", "begin");
  story.work(27, "worker-2", "shot-2", "end");
  story.items(27, "poll", {{"shot-2", "done"}});
  story.close(60);
  expect(Says::kPass, "by another process");
}

TEST_F(Reassigned, FailsWhenTheVictimItselfFinishes) {
  start();
  story.frozen(20, 24);
  story.work(27, "worker-2", "shot-2", "end");
  story.items(27, "poll", {{"shot-2", "done"}});
  story.proc(30, "worker-2", 42, "sample");
  story.close(60);
  expect(Says::kFail, "itself: it was not reassigned");
}

TEST_F(Reassigned, FailsWhenASeatThatWasCutOffFinishesWhatItHadInWork) {
  start();
  story.cut_off(20, 24);
  story.work(27, "worker-2", "shot-2", "end");
  story.items(27, "poll", {{"shot-2", "done"}});
  story.close(60);
  expect(Says::kFail, "itself: it was not reassigned");
}

TEST_F(Reassigned, CannotTellWhoOfASeatThatWasCutOffBeganAnew) {
  start();
  story.cut_off(20, 24);
  story.work(25, "worker-2", "shot-2", "begin");
  story.work(27, "worker-2", "shot-2", "end");
  story.items(27, "poll", {{"shot-2", "done"}});
  story.close(60);
  expect(Says::kCannotTell, "by which of its processes is not known");
}

TEST_F(Reassigned, IsNotFooledByAVictimThatLetsGoLater) {
  Story undisturbed;
  undisturbed.work(15, "worker-2", "shot-2", "begin");
  undisturbed.work(18, "worker-2", "shot-2", "end");
  judging.baseline = undisturbed;  // here only `published` ends work
  start();
  story.frozen(20, 24);
  story.work(22, "worker-1", "shot-2", "begin");
  story.work(25, "worker-2", "shot-2", "end", "lost_claim");
  story.work(27, "worker-1", "shot-2", "end");
  story.items(27, "poll", {{"shot-2", "done"}});
  story.close(60);
  expect(Says::kPass, "shot-2 finished by worker-1");
}

TEST_F(Reassigned, DoesNotCountWhatOnlyRecoverBroughtAbout) {
  start();
  story.killed(20);
  story.phase(25, "recover", "begin");
  story.work(26, "worker-1", "shot-2", "begin");
  story.work(28, "worker-1", "shot-2", "end");
  story.items(27.5, "poll", {{"shot-2", "claimed"}});
  story.items(28, "poll", {{"shot-2", "done"}});
  story.close(60);
  expect(Says::kFail, "only after recover");
}

TEST_F(Reassigned, CannotTellWhenTheVictimHadNothingInWork) {
  story.items(12, "before", {{"shot-2", "queued"}});
  story.killed(20);
  story.close(60);
  expect(Says::kCannotTell, "had nothing in work");
}

TEST_F(Reassigned, CannotTellWhenTheVictimMayHaveBeenDoneBefore) {
  start();
  story.work(20.1, "worker-2", "shot-2", "end");  // read up to 250 ms after it was written
  story.killed(20);
  story.items(20.1, "poll", {{"shot-2", "done"}});
  story.close(60);
  expect(Says::kCannotTell, "may have ended shot-2 before");
}

TEST_F(Reassigned, ForgetsItemsThatAnEarlierDeathLeftOpen) {
  story.items(12, "before", {{"shot-1", "queued"}, {"shot-2", "queued"}});
  story.work(12, "worker-2", "shot-1", "begin");  // its process died; worker-1 finished it
  story.work(13, "worker-1", "shot-1", "begin");
  story.work(14, "worker-1", "shot-1", "end");
  story.items(14, "poll", {{"shot-1", "done"}, {"shot-2", "queued"}});
  taken_over(27);
  expect(Says::kPass, "shot-2 finished by worker-1");
}

TEST_F(Reassigned, WidensWhatWasSeenJustAfterAGap) {
  start();
  story.killed(20);
  story.proc(20.3, "worker-2", 42, "gone", {{"signal", "KILL"}});
  story.work(24, "worker-1", "shot-2", "begin");
  story.items(25, "poll", {{"shot-2", "claimed"}});
  story.observer("node1", 33, "gap", 26, 33);
  story.work(33.1, "worker-1", "shot-2", "end");  // written at some time in the gap
  story.items(33.1, "poll", {{"shot-2", "done"}});
  story.close(60);
  expect(Says::kCannotTell, "too near to the allowed 10 s");
}

TEST_F(Reassigned, OfAnUnconfirmedFaultCannotTellAndSaysWhatItWouldHaveSaid) {
  start();
  story.plan("noop");
  story.fault(20, "noop", "fired");
  for (int i = 0; i < 4; ++i) story.proof(20.2 + i, "noop", "no");
  story.fault(24, "noop", "reverting");
  story.fault(25, "noop", "reverted");
  for (int t = 21; t < 40; ++t) story.items(t, "poll", {{"shot-2", "claimed"}});
  story.close(60);
  expect(Says::kCannotTell, "noop was not confirmed: no proof at victim");
  EXPECT_EQ(judge().otherwise.rfind("fail: shot-2 was still claimed", 0), 0u) << judge().otherwise;
}

TEST_F(Reassigned, AnswersOnlyTheFaultsItNames) {
  judging.scenario.expect[0].of = {"kill"};
  taken_over(27);
  EXPECT_EQ(judge().of, std::vector<std::string>{"kill"});
  judging.scenario.expect[0].of = {"flood"};
  expect(Says::kCannotTell, "fault flood is not in the journal");
}

}  // namespace
}  // namespace unplug::check
