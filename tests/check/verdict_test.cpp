// The worst wins: unhealed, internal, interrupted, fail, inconclusive, pass.
#include "journal_builder.hpp"

namespace unplug::check {
namespace {

const Story::Items kQueued = {{"shot-1", "queued"}};
const Story::Items kWellDone = {{"shot-1", "done"}};
const Story::Items kLost = {};

struct Plot {
  bool fault = true, confirmed = true, healed = true, fails = false;
  std::string closed = "done";
  bool baseline_passed = true;
};

Result verdict_of(const Plot& story) {
  Judging judging;
  judging.expect("conservation");
  Story run;
  run.baseline_ref(story.baseline_passed);
  run.items(12, "before", kQueued);
  if (story.fault) {
    run.plan("freeze");
    run.fault(20, "freeze", "fired");
    if (story.confirmed) {
      for (int i = 0; i < 4; ++i) run.proof(20.2 + i, "freeze", "yes");
    }
    run.fault(24, "freeze", "reverting");
    if (story.healed) run.fault(25, "freeze", "reverted");
  }
  run.items(39, "after", story.fails ? kLost : kWellDone);
  if (story.closed != "") run.close(40, story.closed);
  return judging.judge(run);
}

TEST(Verdict, IsPassWhenAllThatWasExpectedHeldUnderAConfirmedFault) {
  const Result result = verdict_of({});
  EXPECT_EQ(result.verdict, Verdict::kPass) << result.why;
  EXPECT_EQ(result.why, "1 expectation held under 1 confirmed fault");
}

TEST(Verdict, PutsTheWorstFirst) {
  struct Row {
    Plot story;
    Verdict verdict;
  };
  const std::vector<Row> rows = {
      {{.healed = false, .fails = true, .closed = "internal"}, Verdict::kUnhealed},
      {{.healed = false, .closed = "interrupted"}, Verdict::kUnhealed},
      {{.fails = true, .closed = "internal"}, Verdict::kInternal},
      {{.fails = true, .closed = "interrupted"}, Verdict::kInterrupted},
      {{.confirmed = false, .fails = true}, Verdict::kFail},
      {{.fails = true, .baseline_passed = false}, Verdict::kFail},
      {{.fails = true, .closed = "unreachable"}, Verdict::kFail},
      {{.fails = true, .closed = ""}, Verdict::kFail},
      {{.confirmed = false}, Verdict::kInconclusive},
      {{.baseline_passed = false}, Verdict::kInconclusive},
      {{.fault = false}, Verdict::kInconclusive},
      {{.closed = "preflight"}, Verdict::kInconclusive},
      {{.closed = "unreachable"}, Verdict::kInconclusive},
      {{.closed = ""}, Verdict::kInconclusive},
  };
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Result result = verdict_of(rows[i].story);
    EXPECT_EQ(result.verdict, rows[i].verdict)
        << "row " << i << ": " << to_text(result.verdict) << ": " << result.why;
  }
}

// Everything that can be wrong with a run, in every combination: the first of the order decides.
TEST(Verdict, IsTheWorstOfAnyCombination) {
  for (int i = 0; i < 64; ++i) {
    const bool internal = (i & 1) != 0, interrupted = (i & 2) != 0;
    if (internal && interrupted) continue;  // a journal has one reason of its end
    const Plot story = {.confirmed = (i & 4) == 0,
                        .healed = (i & 8) == 0,
                        .fails = (i & 16) != 0,
                        .closed = internal      ? "internal"
                                  : interrupted ? "interrupted"
                                                : "done",
                        .baseline_passed = (i & 32) == 0};
    const Verdict expected = !story.healed                                ? Verdict::kUnhealed
                             : internal                                   ? Verdict::kInternal
                             : interrupted                                ? Verdict::kInterrupted
                             : story.fails                                ? Verdict::kFail
                             : !story.confirmed || !story.baseline_passed ? Verdict::kInconclusive
                                                                          : Verdict::kPass;
    const Result result = verdict_of(story);
    EXPECT_EQ(result.verdict, expected) << "combination " << i << ": " << result.why;
  }
}

TEST(Verdict, SaysThatNothingWasInjected) {
  EXPECT_EQ(verdict_of({.fault = false}).why, "nothing was injected");
}

TEST(Verdict, SaysThatTheJournalIsBrokenOff) {
  EXPECT_NE(verdict_of({.closed = ""}).why.find("broken off"), std::string::npos);
  EXPECT_NE(verdict_of({.healed = false, .closed = ""}).why.find("broken off"), std::string::npos);
}

TEST(Verdict, IsInconclusiveWhenNothingIsExpected) {
  Story run;
  run.frozen(20, 24);
  run.close(40);
  const Result result = Judging{}.judge(run);
  EXPECT_EQ(result.verdict, Verdict::kInconclusive);
  EXPECT_EQ(result.why, "nothing was expected");
}

TEST(Verdict, IsInconclusiveWhenTheChainDoesNotHold) {
  Judging judging;
  judging.expect("conservation");
  Story run;
  run.items(12, "before", kQueued);
  run.frozen(20, 24);
  run.items(39, "after", kWellDone);
  run.close(40);
  Case c;
  c.journal = run.journal();
  c.journal.broken = "line 90: does not follow the line before it";
  c.scenario = &judging.scenario;
  c.target = &judging.target;
  EXPECT_EQ(judge(c).verdict, Verdict::kInconclusive);
}

TEST(Verdict, OfAnUnknownCheckIsCannotTell) {
  Story run;
  run.frozen(20, 24);
  run.close(40);
  const Result result = Judging{}.expect("telepathy").judge(run);
  EXPECT_EQ(only(result).says, Says::kCannotTell);
  EXPECT_EQ(result.verdict, Verdict::kInconclusive);
}

TEST(Verdict, OfAnEmptyJournalIsInconclusive) {
  Judging judging;
  judging.expect("conservation")
      .expect("output")
      .expect("cleanup")
      .expect("timeout", "reassigned", 5);
  Case c;
  c.scenario = &judging.scenario;
  c.target = &judging.target;
  const Result result = judge(c);
  EXPECT_EQ(result.verdict, Verdict::kInconclusive);
  for (const Finding& finding : result.findings) EXPECT_EQ(finding.says, Says::kCannotTell);
}

TEST(Verdict, IsInconclusiveWhenAFaultOfTheScenarioIsNotInTheJournal) {
  Judging judging;
  judging.expect("conservation");
  judging.scenario.faults.resize(1);
  judging.scenario.faults[0].id = "flood";
  Story run;
  run.items(12, "before", kQueued);
  run.frozen(20, 24);
  run.items(39, "after", kWellDone);
  run.close(40);
  const Result result = judging.judge(run);
  EXPECT_EQ(result.verdict, Verdict::kInconclusive);
  EXPECT_EQ(result.why, "fault flood is not in the journal");
}

TEST(Verdict, HasTheExitCodesOfTheProgram) {
  EXPECT_EQ(exit_of(Verdict::kPass), Exit::kPass);
  EXPECT_EQ(exit_of(Verdict::kFail), Exit::kFail);
  EXPECT_EQ(exit_of(Verdict::kInconclusive), Exit::kInconclusive);
  EXPECT_EQ(exit_of(Verdict::kUnhealed), Exit::kUnhealed);
  EXPECT_EQ(exit_of(Verdict::kInternal), Exit::kInternal);
  EXPECT_EQ(exit_of(Verdict::kInterrupted), Exit::kInterrupted);
}

}  // namespace
}  // namespace unplug::check
