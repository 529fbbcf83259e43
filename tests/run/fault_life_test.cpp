// The life of a fault on fake nodes: what is written before what, and every way it can end.
//
// A false pass would be a guard that reverts without being asked: the fake guard does only what
// it is told, and the tests look at what it was told.
#include "run/fault_life.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "run/fake_lab.hpp"
#include "run/ledger.hpp"

namespace unplug::run {
namespace {

using States = std::vector<std::string>;

scenario::Fault freeze(Duration hold = 30ms, const std::string& process = "worker 2") {
  return fault("freeze", "process_freeze", process, scenario::At{}, hold);
}

scenario::When frame_8_of_worker_2() {
  scenario::When when;
  when.event = "frame";
  when.from = scenario::parse_selector("worker 2");
  when.numbers = {{"n", 8}};
  return when;
}

scenario::Fault freeze_on_frame() {
  return fault("freeze", "process_freeze", "worker 2", frame_8_of_worker_2(), 30ms);
}

// ---- the order that safety rests on

TEST(FaultLife, SyncsTheUndoBeforeItsGuardAndArmedBeforeFire) {
  FakeLab lab({freeze()});
  lab.live();
  const int journaled = lab.at("journal journaled freeze");
  const int guard = lab.at("node2 guard freeze");
  const int armed = lab.at("journal armed freeze");
  const int fire = lab.at("node2 < fire freeze");
  ASSERT_GE(journaled, 0);
  EXPECT_LT(lab.at("node2 arm freeze"), journaled);
  EXPECT_LT(lab.at("sync", journaled), guard);
  EXPECT_LT(guard, armed);
  EXPECT_LT(lab.at("sync", armed), fire);
  EXPECT_EQ(lab.states("freeze"), (States{"journaled", "armed", "fired", "in_effect", "reverting",
                                          "reverting", "reverted", "reverted"}));
}

TEST(FaultLife, LetsATriggerLooseOnlyAfterArmedIsSynced) {
  FakeLab lab({freeze_on_frame()});
  ASSERT_EQ(lab.await(lab.faults.arm(Moment::kRun)), "");
  const int trigger = lab.at("node2 < trigger freeze");
  ASSERT_GE(trigger, 0);
  EXPECT_LT(lab.at("sync", lab.at("journal armed freeze")), trigger);
  EXPECT_EQ(lab.at("node2 < fire freeze"), -1);
}

TEST(FaultLife, LetsNoTriggerLooseBeforeEveryFaultIsArmed) {
  FakeLab lab(
      {freeze_on_frame(), fault("other", "process_freeze", "worker 1", scenario::At{10s}, 30ms)});
  lab.guard("other").arm = FakeGuard::Arm::kRefuses;
  EXPECT_NE(lab.await(lab.faults.arm(Moment::kRun)), "");
  EXPECT_EQ(lab.at("node2 < trigger freeze"), -1);
  EXPECT_EQ(lab.states("freeze").back(), "not_triggered");
}

TEST(FaultLife, ArmsAllOrNoneAndTakesBackInReverseOrder) {
  FakeLab lab({fault("a", "process_freeze", "worker 1", scenario::At{}, 30ms),
               fault("b", "process_freeze", "worker 2", scenario::At{}, 30ms),
               fault("c", "process_kill", "renderer 1", scenario::At{})});
  lab.guard("b").arm = FakeGuard::Arm::kRefuses;
  const std::string problem = lab.await(lab.faults.arm(Moment::kRun));
  EXPECT_NE(problem.find("b cannot be armed on node2: no such process"), std::string::npos)
      << problem;
  const int c = lab.at("node1 < revert c");
  ASSERT_GE(c, 0);
  EXPECT_LT(c, lab.at("node1 < revert a"));
  EXPECT_EQ(lab.at("node2 guard b"), -1);
  for (const char* one : {"a", "c"}) {
    EXPECT_EQ(lab.at(std::string("node1 < fire ") + one), -1);
    EXPECT_EQ(lab.last(one, "disarmed").value("by", ""), "guard");
  }
  EXPECT_TRUE(lab.faults.over(Moment::kRun));
  EXPECT_FALSE(lab.faults.stranded());
}

TEST(FaultLife, TellsWhyAGuardDidNotStart) {
  FakeLab lab({freeze()});
  lab.guard("freeze").start = FakeGuard::Start::kEnds;
  lab.guard("freeze").by_folder = false;  // nobody is there to see it
  const std::string problem = lab.await(lab.faults.arm(Moment::kRun));
  EXPECT_NE(problem.find("another guard lives"), std::string::npos) << problem;
  EXPECT_TRUE(lab.faults.over(Moment::kRun));
  EXPECT_FALSE(lab.faults.stranded());
}

TEST(FaultLife, DoesNotRelyOnWellFormedAnswers) {
  FakeLab lab({fault("a", "process_freeze", "worker 1", scenario::At{}, 30ms), freeze()});
  lab.reply("sh sh/verb.sh process_freeze arm", {0, "{\"armed\":\"perhaps\"}\n", ""});
  EXPECT_NE(lab.await(lab.faults.arm(Moment::kRun)).find("arm left no undo"), std::string::npos);
}

// ---- fire

TEST(FaultLife, RevertsAFaultThatDidNotFire) {
  FakeLab lab({freeze()});
  lab.guard("freeze").fire = FakeGuard::Fire::kFails;
  lab.live();
  EXPECT_EQ(lab.last("freeze", "no_effect").value("why", ""), "no such process");
  EXPECT_GE(lab.at("node2 < revert freeze"), 0);
  EXPECT_EQ(lab.at("node2 verify freeze"), -1);
  EXPECT_FALSE(lab.faults.stranded());
}

TEST(FaultLife, RevertsAFaultThatDidNotAnswerFire) {
  FakeLab lab({freeze()});
  lab.guard("freeze").fire = FakeGuard::Fire::kSilent;
  lab.live();
  EXPECT_EQ(lab.last("freeze", "no_effect").value("why", ""), "fire was not answered");
  EXPECT_GE(lab.at("node2 < revert freeze"), 0);
  EXPECT_FALSE(lab.faults.stranded());
}

TEST(FaultLife, LooksInTheFolderWhenTheAnswerToFireWasLost) {
  FakeLab lab({freeze()});
  lab.guard("freeze").fire = FakeGuard::Fire::kFiresAndVanishes;
  lab.live();
  const States states = lab.states("freeze");
  EXPECT_NE(std::ranges::find(states, "fired"), states.end());
  EXPECT_GE(lab.at("node2 please-revert freeze"), 0);
  EXPECT_EQ(states.back(), "reverted");
}

TEST(FaultLife, SaysNoEffectWhenTheGuardWentBeforeItFired) {
  FakeLab lab({freeze()});
  lab.guard("freeze").fire = FakeGuard::Fire::kVanishes;
  lab.live();
  EXPECT_EQ(lab.last("freeze", "no_effect").value("why", ""), "fire was not answered");
  EXPECT_GE(lab.at("node2 please-revert freeze"), 0);
  EXPECT_EQ(lab.last("freeze", "disarmed").value("by", ""), "guard");
  EXPECT_FALSE(lab.faults.stranded());
}

// ---- in effect

TEST(FaultLife, RevertsAFaultThatShowsNoEffect) {
  FakeLab lab({freeze()});
  lab.guard("freeze").verify = {1};
  lab.live();
  EXPECT_EQ(lab.last("freeze", "no_effect").value("why", ""), "verify never said yes");
  EXPECT_TRUE(lab.last("freeze", "in_effect").is_null());
  EXPECT_EQ(lab.states("freeze").back(), "reverted");
}

TEST(FaultLife, EndsEarlyWhenVerifySaysNo) {
  FakeLab lab({freeze(60ms)});
  lab.guard("freeze").verify = {0, 1};
  lab.live();
  EXPECT_NE(lab.last("freeze", "ended_early").value("why", "").find("verify said no"),
            std::string::npos);
  EXPECT_EQ(lab.states("freeze").back(), "reverted");
}

TEST(FaultLife, EndsEarlyWhenTheGuardEndsIt) {
  FakeLab lab({freeze(5s)});
  ASSERT_EQ(lab.await(lab.faults.arm(Moment::kRun)), "");
  lab.faults.started();
  const bool at_rest = false;
  const auto done = lab.spawn(lab.faults.live(Moment::kRun, at_rest));
  ASSERT_TRUE(lab.run_until([&] { return lab.at("journal in_effect freeze") >= 0; }));
  lab.guard("freeze").undoes("lease");
  ASSERT_TRUE(lab.run_until([&] { return *done; }));
  EXPECT_EQ(lab.last("freeze", "ended_early").value("why", ""), "the guard ended it: lease");
  EXPECT_EQ(lab.last("freeze", "reverting").value("by", ""), "guard");
  EXPECT_EQ(lab.states("freeze").back(), "reverted");
}

TEST(FaultLife, ProvesALastingFaultTwiceOneSecondApart) {
  FakeLab lab({kill()});
  lab.context.times = Times{};  // the real second
  lab.live();
  EXPECT_EQ(lab.states("kill"), (States{"journaled", "armed", "fired", "in_effect", "spent"}));
  const auto proofs = lab.all("proof");
  ASSERT_EQ(proofs.size(), 2u);
  EXPECT_GE(proofs[1].at("t0").get<std::int64_t>() - proofs[0].at("t0").get<std::int64_t>(),
            1'000'000'000);
}

TEST(FaultLife, DoesNotSpendALastingFaultThatWasSeenOnce) {
  FakeLab lab({kill()});
  lab.guard("kill").verify = {1, 0, 1};
  lab.live();
  const States states = lab.states("kill");
  EXPECT_EQ(std::ranges::find(states, "spent"), states.end());
  EXPECT_NE(lab.last("kill", "ended_early").value("why", "").find("once and then no"),
            std::string::npos);
}

// ---- not triggered, interrupted

TEST(FaultLife, DisarmsWhatWasNotTriggeredWhenTheTargetIsAtRest) {
  FakeLab lab({fault("freeze", "process_freeze", "worker 2", scenario::At{1h}, 30ms)});
  ASSERT_EQ(lab.await(lab.faults.arm(Moment::kRun)), "");
  lab.faults.started();
  const bool at_rest = true;
  lab.await(lab.faults.live(Moment::kRun, at_rest));
  EXPECT_EQ(lab.at("node2 < fire freeze"), -1);
  EXPECT_GE(lab.at("node2 < revert freeze"), 0);
  EXPECT_EQ(lab.last("freeze", "not_triggered").value("why", ""), "the target had finished first");
  EXPECT_EQ(lab.last("freeze", "disarmed").value("by", ""), "guard");
}

TEST(FaultLife, FiresNothingOnceTheRunWasStopped) {
  FakeLab lab({freeze()});
  ASSERT_EQ(lab.await(lab.faults.arm(Moment::kRun)), "");
  lab.faults.started();  // it is due now
  lab.context.stop = Stop::kInterrupted;
  const bool at_rest = false;
  lab.await(lab.faults.live(Moment::kRun, at_rest));
  EXPECT_EQ(lab.at("node2 < fire freeze"), -1);
  EXPECT_GE(lab.at("node2 < revert freeze"), 0);
  EXPECT_EQ(lab.states("freeze").back(), "not_triggered");
}

TEST(FaultLife, RevertsAtOnceWhenInterruptedDuringTheHold) {
  FakeLab lab({freeze(1h)});
  ASSERT_EQ(lab.await(lab.faults.arm(Moment::kRun)), "");
  lab.faults.started();
  const bool at_rest = false;
  const auto done = lab.spawn(lab.faults.live(Moment::kRun, at_rest));
  ASSERT_TRUE(lab.run_until([&] { return lab.at("journal in_effect freeze") >= 0; }));
  lab.context.stop = Stop::kInterrupted;
  lab.context.bell.ring();
  ASSERT_TRUE(lab.run_until([&] { return *done; }));
  bool said = false;
  for (const auto& data : lab.all("fault")) {
    said = said || (data.at("state") == "reverting" && data.at("why") == "interrupted");
  }
  EXPECT_TRUE(said);
  EXPECT_EQ(lab.states("freeze").back(), "reverted");
}

TEST(FaultLife, ProvesTheUndoOfAFaultThatFiredFasterThanOurWord) {
  FakeLab lab({freeze_on_frame()});
  ASSERT_EQ(lab.await(lab.faults.arm(Moment::kRun)), "");
  lab.faults.started();
  // The trigger pulls while the controller asks for the undo.
  FakeGuard& guard = lab.guard("freeze");
  guard.revert = FakeGuard::Revert::kSilent;
  const bool at_rest = true;
  const auto done = lab.spawn(lab.faults.live(Moment::kRun, at_rest));
  ASSERT_TRUE(lab.run_until([&] { return lab.at("node2 < revert freeze") >= 0; }));
  guard.fired("frame shot-1 8");
  guard.undoes("request");
  ASSERT_TRUE(lab.run_until([&] { return *done; }));
  EXPECT_FALSE(lab.last("freeze", "fired").is_null());
  EXPECT_TRUE(lab.last("freeze", "not_triggered").is_null());
  EXPECT_GE(lab.at("node2 verify_reverted freeze"), 0);
  EXPECT_EQ(lab.states("freeze").back(), "reverted");
}

// ---- the undo

TEST(FaultLife, StrandsAFaultWhoseUndoIsNotReported) {
  FakeLab lab({freeze()});
  lab.guard("freeze").revert = FakeGuard::Revert::kSilent;
  lab.guard("freeze").by_folder = false;
  lab.live();
  EXPECT_TRUE(lab.faults.stranded());
  EXPECT_EQ(lab.last("freeze", "stranded").value("by_hand", ""),
            "on node2: cd ~/.unplug/run1 && sh freeze/guard.sh undo hand");
  EXPECT_GE(lab.at("sync", lab.at("journal stranded freeze")), 0);
}

TEST(FaultLife, StrandsAFaultThatIsSeenAfterItsUndo) {
  FakeLab lab({freeze()});
  lab.guard("freeze").verify_reverted = {1};
  lab.live();
  EXPECT_EQ(lab.last("freeze", "stranded").value("why", ""), "verify_reverted does not hold");
}

TEST(FaultLife, AsksByTheFolderWhenTheSessionIsLost) {
  FakeLab lab({freeze(50ms)});
  ASSERT_EQ(lab.await(lab.faults.arm(Moment::kRun)), "");
  lab.faults.started();
  const bool at_rest = false;
  const auto done = lab.spawn(lab.faults.live(Moment::kRun, at_rest));
  ASSERT_TRUE(lab.run_until([&] { return lab.at("journal in_effect freeze") >= 0; }));
  lab.guard("freeze").channel = nullptr;
  lab.node("node2").lose("cable");
  lab.node("node2").come_back();
  ASSERT_TRUE(lab.run_until([&] { return *done; }));
  const int asked = lab.at("node2 please-revert freeze");
  ASSERT_GE(asked, 0);
  EXPECT_GE(lab.at("node2 look freeze", asked), 0);
  EXPECT_EQ(lab.states("freeze").back(), "reverted");
  EXPECT_FALSE(lab.faults.stranded());
}

TEST(FaultLife, WaitsForTheLeaseOfAGuardThatCannotHearUs) {
  FakeLab lab({freeze(20ms)});
  lab.guard("freeze").by_folder = false;
  ASSERT_EQ(lab.await(lab.faults.arm(Moment::kRun)), "");
  lab.faults.started();
  const bool at_rest = false;
  const auto done = lab.spawn(lab.faults.live(Moment::kRun, at_rest));
  ASSERT_TRUE(lab.run_until([&] { return lab.at("journal in_effect freeze") >= 0; }));
  lab.guard("freeze").channel = nullptr;
  lab.node("node2").lose("cable");
  const Deadline deaf = within(lab.context.times.undo_beyond + 100ms);
  ASSERT_TRUE(lab.run_until([&] { return BootClock::now() > deaf; }));
  EXPECT_FALSE(*done);
  lab.guard("freeze").undoes("lease");
  lab.node("node2").come_back();
  ASSERT_TRUE(lab.run_until([&] { return *done; }));
  EXPECT_FALSE(lab.faults.stranded());
}

TEST(FaultLife, AsksAgainByTheFolderWhenTheStreamTookTheWordWithIt) {
  FakeLab lab({freeze()});
  lab.guard("freeze").revert = FakeGuard::Revert::kVanishes;
  lab.live();
  EXPECT_GE(lab.at("node2 please-revert freeze"), 0);
  EXPECT_FALSE(lab.faults.stranded());
  EXPECT_EQ(lab.states("freeze").back(), "reverted");
}

// ---- a journal that cannot be written

class BrokenJournal : public testing::Test {
 protected:
  BrokenJournal() : lab_({freeze()}) {
    auto sink = std::make_unique<HistorySink>(lab_.history);
    sink_ = sink.get();
    ledger_ = std::make_unique<Ledger>(std::move(sink),
                                       [this](const std::string& why) { lab_.context.fail(why); });
    stage_ = std::make_unique<Stage>(Stage{lab_.context, *ledger_, "run1", false, {}});
    stage_->started = BootClock::now();
    faults_ = std::make_unique<Faults>(*stage_, lab_.plan);
  }

  FakeLab lab_;
  HistorySink* sink_ = nullptr;
  std::unique_ptr<Ledger> ledger_;
  std::unique_ptr<Stage> stage_;
  std::unique_ptr<Faults> faults_;
};

TEST_F(BrokenJournal, StartsNoGuardWhenTheUndoIsNotJournaled) {
  sink_->fails_after = 0;
  EXPECT_NE(lab_.await(faults_->arm(Moment::kRun)), "");
  EXPECT_EQ(lab_.at("node2 guard freeze"), -1);
  EXPECT_EQ(lab_.context.stop, Stop::kInternal);
  EXPECT_TRUE(faults_->over(Moment::kRun));
}

TEST_F(BrokenJournal, FiresNothingAndTakesBackWhatIsArmed) {
  sink_->fails_after = 1;  // journaled, but not armed
  EXPECT_NE(lab_.await(faults_->arm(Moment::kRun)), "");
  EXPECT_GE(lab_.at("node2 guard freeze"), 0);
  EXPECT_GE(lab_.at("node2 < revert freeze"), 0);
  EXPECT_EQ(lab_.at("node2 < fire freeze"), -1);
  EXPECT_EQ(lab_.context.stop, Stop::kInternal);
}

TEST_F(BrokenJournal, RevertsWhatHoldsWhenItBreaks) {
  ASSERT_EQ(lab_.await(faults_->arm(Moment::kRun)), "");
  sink_->fails_after = 1;  // fired, and then no more
  faults_->started();
  const bool at_rest = false;
  lab_.await(faults_->live(Moment::kRun, at_rest));
  EXPECT_GE(lab_.at("node2 < fire freeze"), 0);
  EXPECT_GE(lab_.at("node2 < revert freeze"), 0);
  EXPECT_FALSE(faults_->stranded());
}

}  // namespace
}  // namespace unplug::run
