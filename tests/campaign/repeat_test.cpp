#include "campaign/repeat.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "campaign/worst.hpp"

namespace unplug::campaign {
namespace {

namespace fs = std::filesystem;

// A program in the place of unplug: it leaves a result as a run does, and ends as `exits` says.
class RepeatRuns : public ::testing::Test {
 protected:
  RepeatRuns() {
    std::string name = (fs::temp_directory_path() / "unplug-repeat-XXXXXX").string();
    out_ = mkdtemp(name.data());
  }
  ~RepeatRuns() override { fs::remove_all(out_); }

  RepeatOutcome repeat_with(const std::string& script, int times, int jobs) {
    RepeatOptions options;
    options.scenarios = {"a/one.json", "two.json"};
    options.words = {"sh", "-c", script, "run"};
    options.times = times;
    options.jobs = jobs;
    options.out = out_;
    return repeat(options, [this](const Repeated& run) { told_.push_back(run); });
  }

  fs::path out_;
  std::vector<Repeated> told_;
};

TEST_F(RepeatRuns, RunsEveryScenarioSoOftenAndKeepsEveryFolder) {
  const RepeatOutcome outcome = repeat_with("echo ran $1 into $3", 3, 2);
  ASSERT_EQ(outcome.runs.size(), 6u);
  EXPECT_EQ(told_.size(), 6u);
  EXPECT_EQ(outcome.runs[0].scenario, "a/one.json");
  EXPECT_EQ(outcome.runs[5].round, 3);
  for (const Repeated& run : outcome.runs) {
    EXPECT_EQ(run.exit, Exit::kPass);
    std::ifstream printed(run.folder / "output");
    std::string text;
    std::getline(printed, text);
    EXPECT_EQ(text, "ran " + fs::absolute(run.scenario).string() + " into " + run.folder.string());
  }
}

TEST_F(RepeatRuns, SaysWhatWasNoPass) {
  const char* leaves = R"(mkdir "$3/2026-run"; cat >"$3/2026-run/result.json" <<END
{"faults":[{"instance":"kill","confirmed":false}],
 "findings":[{"check":"cleanup","says":"pass"},{"check":"output","says":"fail"}]}
END
exit 1)";
  const RepeatOutcome outcome = repeat_with(leaves, 1, 1);
  ASSERT_EQ(outcome.runs.size(), 2u);
  EXPECT_EQ(outcome.runs[0].exit, Exit::kFail);
  EXPECT_EQ(outcome.runs[0].words,
            (std::vector<std::string>{"not confirmed: kill", "fail output"}));
}

TEST_F(RepeatRuns, SaysNothingOfAnEarlierCampaignInTheSameFolder) {
  repeat_with(
      R"(mkdir "$3/first"; echo '{"findings":[{"check":"output","says":"fail"}]}' >"$3/first/result.json"
exit 1)",
      1, 1);
  const RepeatOutcome second = repeat_with("mkdir \"$3/second\"", 1, 1);
  ASSERT_EQ(second.runs.size(), 2u);
  EXPECT_TRUE(second.runs[0].words.empty());
}

TEST_F(RepeatRuns, AnExitNobodyKnowsIsOurOwnTrouble) {
  EXPECT_EQ(repeat_with("exit 9", 1, 1).runs[0].exit, Exit::kInternal);
  EXPECT_EQ(repeat_with("kill -KILL $$", 1, 1).runs[0].exit, Exit::kInternal);
}

TEST_F(RepeatRuns, HasAsManyAtATimeAsAskedAndNoMore) {
  // Each waits for a second one to be there: alone it would wait for ever, and end with 1.
  const char* meets = R"(dir=${3%/*}; touch "$dir/here.$$"
for i in $(seq 100); do
  set -- "$dir"/here.*
  [ $# -le 2 ] || exit 3
  [ $# -lt 2 ] || break
  sleep 0.05
done
[ $# -eq 2 ] || exit 1
sleep 0.3; exit 0)";
  const RepeatOutcome outcome = repeat_with(meets, 1, 2);
  for (const Repeated& run : outcome.runs) EXPECT_EQ(run.exit, Exit::kPass);
}

TEST(Worst, RanksExitsAsVerdictsAreRanked) {
  EXPECT_EQ(worse(Exit::kPass, Exit::kInconclusive), Exit::kInconclusive);
  EXPECT_EQ(worse(Exit::kFail, Exit::kInconclusive), Exit::kFail);
  EXPECT_EQ(worse(Exit::kFail, Exit::kInterrupted), Exit::kInterrupted);
  EXPECT_EQ(worse(Exit::kInternal, Exit::kInterrupted), Exit::kInternal);
  EXPECT_EQ(worse(Exit::kUnhealed, Exit::kInternal), Exit::kUnhealed);
  EXPECT_EQ(worse(Exit::kPass, Exit::kPass), Exit::kPass);
}

TEST(Worst, IsTheSameWhicheverComesFirst) {
  const std::vector<Exit> worst_first = {Exit::kUnhealed, Exit::kInternal,     Exit::kInterrupted,
                                         Exit::kFail,     Exit::kInconclusive, Exit::kPass};
  for (std::size_t i = 0; i < worst_first.size(); ++i) {
    for (std::size_t j = i; j < worst_first.size(); ++j) {
      EXPECT_EQ(worse(worst_first[i], worst_first[j]), worst_first[i]);
      EXPECT_EQ(worse(worst_first[j], worst_first[i]), worst_first[i]);
    }
  }
}

}  // namespace
}  // namespace unplug::campaign
