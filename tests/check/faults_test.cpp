// Was the fault really in effect, and is it undone? Only proofs count.
#include "check/history.hpp"
#include "journal_builder.hpp"

namespace unplug::check {
namespace {

struct Faults : testing::Test {
  FaultFinding finding(const Story& of) {
    const Result result = judging.judge(of);
    EXPECT_EQ(result.faults.size(), 1u);
    return result.faults.empty() ? FaultFinding{} : result.faults.front();
  }
  void expect_unconfirmed(const Story& of, const std::string& why) {
    const FaultFinding fault = finding(of);
    EXPECT_FALSE(fault.confirmed);
    EXPECT_NE(fault.text.find(why), std::string::npos) << fault.text;
  }
  Judging judging;
  Story run;
};

TEST_F(Faults, AreConfirmedByProofsThroughoutTheHold) {
  run.frozen(20, 24);
  run.close(40);
  const FaultFinding fault = finding(run);
  EXPECT_TRUE(fault.confirmed) << fault.text;
  EXPECT_FALSE(fault.unhealed);
  EXPECT_EQ(fault.victim, "worker of worker-2 at node2");
  EXPECT_EQ(fault.fired, "10 s after start");
  EXPECT_EQ(fault.undone, "reverted 15 s after start");
  EXPECT_FALSE(fault.witnesses.empty());
}

TEST_F(Faults, LastingOnesAreConfirmedByTwoProofsASecondApart) {
  run.killed(20);
  run.close(40);
  EXPECT_TRUE(finding(run).confirmed) << finding(run).text;
  EXPECT_EQ(finding(run).undone, "nothing to undo");
}

TEST_F(Faults, LastingOnesSeenOnceAreNotConfirmed) {
  run.plan("kill", {{"lasting", true}, {"hold_ns", nullptr}});
  run.fault(20, "kill", "fired");
  run.proof(20.2, "kill", "yes");
  run.proof(20.9, "kill", "yes");
  run.fault(21, "kill", "spent");
  run.close(40);
  expect_unconfirmed(run, "seen once, not twice");
}

// Asleep from 20 to 26 s: a witness on node1 meanwhile, its own record after it woke.
void asleep(Story& run, bool record, bool witness = true) {
  run.plan("sleep", {{"hold_ns", ns(6)}});
  run.plan("sleep", {{"hold_ns", ns(6)}, {"role", "witness"}, {"acts", false}});
  run.fault(20, "sleep", "fired");
  for (double t = 20.6; t < 25.2; t += 0.5) {
    run.proof(t, "sleep", witness ? "yes" : "no", "effect", "witness", "node1");
  }
  run.fault(28, "sleep", "reverting");
  run.proof_afterwards(28.4, "sleep", record ? "yes" : "no");
  run.fault(29, "sleep", "reverted");
  run.close(40);
}

TEST_F(Faults, ThatCutTheirNodeOffAreConfirmedByItsRecordAfterwards) {
  asleep(run, true);
  const FaultFinding fault = finding(run);
  EXPECT_TRUE(fault.confirmed) << fault.text;
  // The record says that it was, the witness says when.
  EXPECT_NE(fault.text.find("in effect for 4.5 s"), std::string::npos) << fault.text;
}

TEST_F(Faults, ThatCutTheirNodeOffNeedItsRecord) {
  asleep(run, false);
  expect_unconfirmed(run, "no proof at victim");
}

TEST_F(Faults, ThatCutTheirNodeOffNeedAWitnessMeanwhile) {
  asleep(run, true, false);
  expect_unconfirmed(run, "no proof at witness");
}

TEST_F(Faults, OfANoOpInjectorAreNotConfirmed) {
  run.plan("noop");
  run.fault(20, "noop", "fired");
  run.fault(20.1, "noop", "in_effect");  // a state event proves nothing
  for (int i = 0; i < 4; ++i) run.proof(20.2 + i, "noop", "no");
  run.fault(24, "noop", "reverting");
  run.fault(25, "noop", "reverted");
  run.close(40);
  expect_unconfirmed(run, "no proof at victim (node2): it said no");
}

TEST_F(Faults, MayTakeAMomentToComeIntoEffect) {
  run.plan("freeze");
  run.fault(20, "freeze", "fired");
  run.proof(20.1, "freeze", "no");
  for (int i = 1; i < 4; ++i) run.proof(20.2 + i, "freeze", "yes");
  run.proof(23.99, "freeze", "yes");
  run.fault(24, "freeze", "reverting");
  run.fault(25, "freeze", "reverted");
  run.close(40);
  EXPECT_TRUE(finding(run).confirmed) << finding(run).text;
}

TEST_F(Faults, AreNotConfirmedWhenOneSampleInTheHoldSaysNo) {
  run.plan("freeze");
  run.fault(20, "freeze", "fired");
  for (const auto& [t, says] :
       {std::pair{20.2, "yes"}, {21.2, "no"}, {22.2, "yes"}, {23.9, "yes"}}) {
    run.proof(t, "freeze", says);
  }
  run.fault(24, "freeze", "reverting");
  run.fault(25, "freeze", "reverted");
  run.close(40);
  expect_unconfirmed(run, "said no while it should have held");
}

TEST_F(Faults, AreNotConfirmedWhenTheLastProofIsTooEarly) {
  run.plan("freeze", {{"hold_ns", ns(10)}});
  run.fault(20, "freeze", "fired");
  for (int i = 0; i < 4; ++i) run.proof(20.2 + i, "freeze", "yes");
  run.fault(24, "freeze", "reverting", {{"why", "lease"}});
  run.fault(25, "freeze", "reverted");
  run.close(40);
  expect_unconfirmed(run, "was last seen in effect 3.2 s after fire, of 10 s planned");
}

TEST_F(Faults, ThatNobodyPlannedAreNotConfirmed) {
  run.fault(20, "freeze", "fired");
  run.fault(24, "freeze", "reverted");
  run.close(40);
  expect_unconfirmed(run, "no acting role was planned");
}

TEST_F(Faults, ThatEndedEarlyAreNotConfirmed) {
  run.frozen(20, 24);
  run.fault(23, "freeze", "ended_early", {{"why", "the guard's lease ran out"}});
  run.close(40);
  expect_unconfirmed(run, "ended early at victim (node2): the guard's lease ran out");
}

TEST_F(Faults, NeedAProofOfEveryRole) {
  run.plan("drop", {{"role", "near"}});
  Json far{
      {"id", "drop"},       {"instance", "drop"}, {"role", "far"},    {"injector", "link_drop"},
      {"state", "planned"}, {"acts", false},      {"lasting", false}, {"hold_ns", ns(4)}};
  run.add(6, "fault", far, "node1");
  run.fault(20, "drop", "fired", {}, "near");
  for (int i = 0; i < 4; ++i) run.proof(20.2 + i, "drop", "yes", "effect", "near");
  run.proof(23.99, "drop", "yes", "effect", "near");
  run.fault(24, "drop", "reverting", {}, "near");
  run.fault(25, "drop", "reverted", {}, "near");
  run.close(40);
  expect_unconfirmed(run, "no proof at far (node1): it was never looked at");
}

// As of an injector that fires only when the hold is over: the last look sees it here, not there.
TEST_F(Faults, WhoseRolesWereNeverSeenInEffectTogetherAreNotConfirmed) {
  run.plan("drop", {{"role", "near"}});
  run.plan("drop", {{"role", "far"}, {"acts", false}});
  run.fault(20, "drop", "fired", {}, "near");
  run.proof(20.2, "drop", "no", "effect", "near");
  run.proof(20.2, "drop", "no", "effect", "far", "node1");
  run.proof(23.95, "drop", "yes", "effect", "near");
  run.proof(23.99, "drop", "yes", "effect", "far", "node1");
  run.fault(24, "drop", "reverting", {}, "near");
  run.fault(25, "drop", "reverted", {}, "near");
  run.close(40);
  expect_unconfirmed(run, "its roles were not seen in effect together");
}

TEST_F(Faults, ThatNeverTriggeredAreNotConfirmed) {
  run.plan("freeze");
  run.fault(9, "freeze", "armed");
  run.fault(38, "freeze", "not_triggered", {{"why", "no event frame 99"}});
  run.fault(39, "freeze", "disarmed");
  run.close(40);
  expect_unconfirmed(run, "not triggered: no event frame 99");
  EXPECT_FALSE(finding(run).unhealed);
}

TEST_F(Faults, FiredTooFarFromTheAskedStepAreNotConfirmed) {
  scenario::Fault fault;
  fault.id = "freeze";
  fault.trigger = scenario::When{"frame", {}, {}, {{"n", 5}}, 1, {}};
  judging.scenario.faults = {fault};
  run.frozen(20, 24);
  for (auto& event : run.memory.events) {
    if (event.kind == "fault" && event.data["state"] == "fired") {
      event.data["asked"] = 5, event.data["reached"] = 9;
    }
  }
  run.close(40);
  expect_unconfirmed(run, "fired at 9, 5 was asked");
}

TEST_F(Faults, FiredTooLateAreNotConfirmed) {
  scenario::Fault fault;
  fault.id = "freeze";
  fault.trigger = scenario::At{std::chrono::seconds{7}};
  judging.scenario.faults = {fault};
  run.frozen(20, 24);  // 10 s after start
  run.close(40);
  expect_unconfirmed(run, "later than asked");
}

TEST_F(Faults, WithoutRevertedAreUnhealed) {
  run.plan("freeze");
  run.fault(20, "freeze", "fired");
  run.close(40);
  const Result result = judging.judge(run);
  EXPECT_TRUE(result.faults.at(0).unhealed);
  EXPECT_EQ(result.verdict, Verdict::kUnhealed);
  ASSERT_EQ(result.by_hand.size(), 1u);
  EXPECT_NE(result.by_hand[0].find("node2: freeze"), std::string::npos) << result.by_hand[0];
}

TEST_F(Faults, StrandedOnesSayWhatToDoByHand) {
  run.frozen(20, 24);
  run.fault(30, "freeze", "stranded", {{"why", "no answer"}, {"by_hand", "kill -CONT 42"}});
  run.close(40);
  const Result result = judging.judge(run);
  EXPECT_EQ(result.verdict, Verdict::kUnhealed);
  EXPECT_EQ(result.by_hand,
            std::vector<std::string>{"node2: freeze (process_freeze): no answer; kill -CONT 42"});
}

TEST_F(Faults, StrandedOnesThatTheGuardUndidLaterAreHealed) {
  run.plan("freeze");
  run.fault(20, "freeze", "fired");
  run.fault(30, "freeze", "stranded", {{"why", "no answer"}});
  run.close(40);
  journal::Event reverted;
  reverted.kind = "fault";
  reverted.src = "heal";
  reverted.node = "node2";
  reverted.data = {{"instance", "freeze"}, {"state", "reverted"}, {"by", "heal"}};
  judging.healed = {reverted};
  const Result result = judging.judge(run);
  EXPECT_FALSE(result.faults.at(0).unhealed);
  EXPECT_NE(result.verdict, Verdict::kUnhealed);
}

TEST_F(Faults, WhoseRevertIsNotSeenAreUnhealed) {
  run.frozen(20, 24);
  run.proof(26, "freeze", "no", "reverted");
  run.close(40);
  EXPECT_TRUE(finding(run).unhealed);
}

TEST_F(Faults, ArmedWhenTheJournalBrokeOffMayHaveFired) {
  run.plan("freeze");
  run.fault(9, "freeze", "armed");
  EXPECT_TRUE(finding(run).unhealed);
  run.fault(12, "freeze", "disarmed");
  EXPECT_FALSE(finding(run).unhealed);
}

}  // namespace
}  // namespace unplug::check
