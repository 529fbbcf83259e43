// One pass over fake nodes: whatever goes wrong in it, what was deployed is stopped, what was
// armed is over, and the nodes are cleared.
#include "run/exercise.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <boost/asio/steady_timer.hpp>
#include <filesystem>
#include <fstream>

#include "run/fake_farm.hpp"

namespace unplug::run {
namespace {

const std::string kDeploy = "sh sh/verb.sh farm deploy";
const std::string kStart = "sh sh/verb.sh farm start";
const std::string kEnqueue = "sh sh/verb.sh farm enqueue";
const std::string kStop = "sh sh/verb.sh farm stop";

class ExerciseTest : public testing::Test {
 protected:
  ExerciseTest() {
    std::string name = (std::filesystem::temp_directory_path() / "unplug-exercise-XXXXXX").string();
    folder_ = mkdtemp(name.data());
  }
  ~ExerciseTest() override { std::filesystem::remove_all(folder_); }

  Ending run(FakeFarm& farm) {
    farm.stage.folder = folder_;
    return farm.await(exercise(farm.stage, farm.plan));
  }
  // How often any node was asked for it.
  static int calls(const FakeFarm& farm, const std::string& part) {
    return static_cast<int>(std::ranges::count_if(
        farm.history, [&](const auto& entry) { return entry.find(part) != std::string::npos; }));
  }

 private:
  std::filesystem::path folder_;
};

TEST_F(ExerciseTest, StartsNothingWhenAProbeRefuses) {
  FakeFarm farm({kill()});
  farm.reply("sh sh/verb.sh process_kill probe", {4, "", "not allowed\n"});
  const Ending ending = run(farm);
  EXPECT_EQ(ending.reason, "preflight");
  ASSERT_EQ(ending.problems.size(), 1u);
  EXPECT_EQ(calls(farm, "sh sh/verb.sh farm"), 0);
  EXPECT_EQ(calls(farm, "sh -s -- remove run1"), 2);
}

TEST_F(ExerciseTest, StopsTheTargetWhenItsDeployFails) {
  FakeFarm farm({kill()});
  farm.reply(kDeploy, {1, "", "no disk\n"});
  const Ending ending = run(farm);
  EXPECT_EQ(ending.reason, "target");
  EXPECT_NE(ending.why.find("no disk"), std::string::npos);
  EXPECT_EQ(calls(farm, kStart), 0);
  EXPECT_EQ(calls(farm, "arm kill"), 0);
  EXPECT_EQ(calls(farm, kStop), 3);
  EXPECT_EQ(calls(farm, "sh -s -- remove run1"), 2);
}

TEST_F(ExerciseTest, StartsNothingOnceItIsInterrupted) {
  FakeFarm farm({kill()});
  farm.answer(kDeploy, [&farm](node::FakeRun& run) {
    farm.context.stop = Stop::kInterrupted;
    run.exit(0);
  });
  (void)run(farm);
  EXPECT_EQ(calls(farm, kStart), 0);
  EXPECT_EQ(calls(farm, kEnqueue), 0);
  EXPECT_EQ(calls(farm, kStop), 3);
}

TEST_F(ExerciseTest, DeploysNothingWhenItIsInterruptedBefore) {
  FakeFarm farm({kill()});
  farm.context.stop = Stop::kInterrupted;
  (void)run(farm);
  EXPECT_EQ(calls(farm, kDeploy), 0);
  EXPECT_EQ(calls(farm, kStop), 0);
  EXPECT_EQ(calls(farm, "sh -s -- remove run1"), 2);
}

TEST_F(ExerciseTest, TakesBackWhatIsArmedWhenTheWorkloadIsRefused) {
  FakeFarm farm({fault("kill", "process_kill", "worker 2", scenario::At{1h})});
  farm.reply(kEnqueue, {1, "", "queue is read-only\n"});
  const Ending ending = run(farm);
  EXPECT_EQ(ending.reason, "target");
  EXPECT_GE(farm.at("node2 < revert kill"), 0);
  EXPECT_EQ(farm.at("node2 < fire kill"), -1);
  EXPECT_EQ(calls(farm, kStop), 3);
}

TEST_F(ExerciseTest, RunsFiresAndComesToRest) {
  FakeFarm farm({kill()});
  farm.items({"queue/shot-1.job"});
  farm.guard("kill").verify = {0};
  // The item is done as soon as the fault was proved.
  bool rendered = false;
  farm.answer("process_kill verify", [&](node::FakeRun& run) {
    if (!std::exchange(rendered, true)) {
      farm.items({"done/shot-1.job", "done/shot-1.mp4"});
      farm.sees({"done/shot-1.job", "done/shot-1.mp4"});
    }
    run.exit(0);
  });
  const Ending ending = run(farm);
  EXPECT_EQ(ending.reason, "done") << ending.why;
  EXPECT_TRUE(ending.at_rest);
  EXPECT_EQ(farm.states("kill").back(), "spent");
  EXPECT_LT(farm.at("journal spent kill"), farm.at("journal capture begin"));
  EXPECT_LT(farm.at("journal capture end"), farm.at("journal stop begin"));
  EXPECT_EQ(farm.all("observer").back().at("edge"), "end");
}

// A busy farm changes under each of the five reads: the list is asked for again.
TEST_F(ExerciseTest, HandsInWhatIsReadAtLastWhenTheFolderKeptChanging) {
  FakeFarm farm({kill()});
  int reads = 0;
  farm.answer("sh sh/observe.sh files items=", [&reads](node::FakeRun& run) {
    const int now = ++reads;
    const std::string job = now < 8 ? "queue/shot-" + std::to_string(now) : "queue/shot-0";
    run.say(R"({"files":["items:)" + job + R"(.job"],"truncated":false})");
    run.exit(0);
  });
  farm.bundle.scenario.run_limit = 3s;
  (void)run(farm);
  bool handed_in = false;
  for (const auto& data : farm.all("snapshot")) {
    if (data.at("scope") == "items" && data.at("when") == "before") handed_in = true;
  }
  EXPECT_TRUE(handed_in);
}

TEST_F(ExerciseTest, EndsAtTheRunsLimit) {
  FakeFarm farm;
  farm.bundle.scenario.run_limit = 20ms;
  farm.bundle.target.recover.clear();
  farm.items({"queue/shot-1.job"});
  const Ending ending = run(farm);
  EXPECT_EQ(ending.reason, "limit");
  EXPECT_FALSE(ending.at_rest);
  EXPECT_NE(ending.why.find("(limits: run 20 ms, then settle 30 ms)"), std::string::npos)
      << ending.why;
}

// settle is 30 ms here, as short as it is where nothing is left that could settle; the work that
// recover has set going again takes longer.
TEST_F(ExerciseTest, GivesWhatRecoverBeganLongerThanAShortSettle) {
  FakeFarm farm;
  farm.bundle.scenario.run_limit = 20ms;
  farm.items({"queue/shot-1.job"});
  asio::steady_timer rendering(farm.context.executor);
  farm.answer("sh sh/verb.sh farm restart", [&](node::FakeRun& run) {
    rendering.expires_after(100ms);
    rendering.async_wait([&farm](const boost::system::error_code&) {
      farm.items({"done/shot-1.job", "done/shot-1.mp4"});
      farm.sees({"done/shot-1.job", "done/shot-1.mp4"});
    });
    run.exit(0);
  });
  const Ending ending = run(farm);
  EXPECT_EQ(ending.reason, "done") << ending.why;
  EXPECT_TRUE(ending.at_rest);
}

TEST_F(ExerciseTest, KeepsAStrandedFaultsFolder) {
  FakeFarm farm({fault("freeze", "process_freeze", "worker 2", scenario::At{}, 10ms)});
  farm.bundle.scenario.run_limit = 20ms;
  farm.bundle.target.recover.clear();
  farm.guard("freeze").revert = FakeGuard::Revert::kSilent;
  farm.guard("freeze").by_folder = false;
  EXPECT_TRUE(run(farm).stranded);
  EXPECT_EQ(calls(farm, "sh -s -- remove run1"), 0);
  EXPECT_EQ(calls(farm, kStop), 3);
}

// A log that cannot be kept is trouble of our own: an exception in the middle of `stop`.
TEST_F(ExerciseTest, ClearsTheNodesAlsoAfterABugOfOurs) {
  FakeFarm farm({kill()});
  farm.reply("for f in logs/*", {0, "logs/worker.log\n", ""});
  farm.answer(kDeploy, [&farm](node::FakeRun& run) {
    std::ofstream(farm.stage.folder / "files") << "in the way of a folder";
    run.exit(1);
  });
  (void)run(farm);
  EXPECT_EQ(farm.context.stop, Stop::kInternal);
  EXPECT_EQ(calls(farm, "sh -s -- remove run1"), 2);
}

}  // namespace
}  // namespace unplug::run
