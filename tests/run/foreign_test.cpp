// Work of others on the nodes: named and refused, or, where the lab allows it, noted with its
// hashes.
#include "run/foreign.hpp"

#include <gtest/gtest.h>

#include "run/exercise.hpp"
#include "run/fake_farm.hpp"

namespace unplug::run {
namespace {

using journal::Json;

class ForeignTest : public testing::Test {
 protected:
  ForeignTest() { farm_.bundle.lab_file = "lab.json"; }
  void a_worker_of_others() {
    farm_.reply("perl - works",
                {0, R"({"boot":"b","processes":[{"pid":42,"start":7,"cmd":"sh worker.sh"}]})", ""});
  }
  Json last_foreign() {
    Json found;
    for (const Json& data : farm_.all("snapshot")) {
      if (data.at("scope") == "foreign") found = data;
    }
    return found;
  }

  FakeFarm farm_;
  ForeignWork foreign_{farm_.stage};
};

TEST_F(ForeignTest, MeetsNothingWhereNothingIs) {
  farm_.foreign({"queue/", "done/", "README"});
  EXPECT_TRUE(farm_.await(foreign_.look()).empty());
  farm_.await(foreign_.journal("before"));
  EXPECT_TRUE(last_foreign().is_null());
}

TEST_F(ForeignTest, NamesItemsAndOutputsWithTheirFolderAndTheMend) {
  farm_.foreign({"queue/", "queue/a.job", "done/b.job", "done/b.mp4", "claimed/n~7/heart"});
  const auto problems = farm_.await(foreign_.look());
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(problems[0],
            "node1: /scratch/farm holds work that this run did not create: claimed/n~7/heart, "
            "done/b.job, done/b.mp4, queue/a.job; move it away, or, if it may stay, write "
            "\"allow_foreign\": true in lab.json");
  EXPECT_EQ(foreign_.items(), (std::set<std::string>{"a", "b"}));
}

TEST_F(ForeignTest, NamesAProcessThatWorksInTheTargetsFolders) {
  a_worker_of_others();
  const auto problems = farm_.await(foreign_.look());
  ASSERT_EQ(problems.size(), 2u);
  EXPECT_EQ(problems[1].substr(0, problems[1].find(';')),
            "node2: process 42 (sh worker.sh) works in the target's folders, and is none of ours");
}

TEST_F(ForeignTest, TakesNoAnswerForNoWork) {
  farm_.reply("perl - works", {127, "", "perl: not found\n"});
  const auto problems = farm_.await(foreign_.look());
  ASSERT_EQ(problems.size(), 2u);
  EXPECT_NE(problems[0].find("cannot be seen: perl: not found"), std::string::npos) << problems[0];
}

TEST_F(ForeignTest, NotesItsHashesWhereTheLabAllowsIt) {
  farm_.bundle.lab.allow_foreign = true;
  farm_.foreign({"done/b.job"});
  a_worker_of_others();
  farm_.reply("IFS= read -r f", {0, "abc done/b.job\n", ""});
  EXPECT_TRUE(farm_.await(foreign_.look()).empty());
  farm_.await(foreign_.journal("before"));
  int notes = 0;
  for (const Json& data : farm_.all("snapshot")) {
    ++notes;
    EXPECT_EQ(data.at("clean"), true) << data;
    EXPECT_EQ(data.at("what").at("processes")[0].at("pid"), 42);
    if (data.at("what").at("files").empty()) continue;  // node2's
    EXPECT_EQ(data.at("what").at("files"), Json::parse(R"([{"path":"done/b.job","sha":"abc"}])"));
  }
  EXPECT_EQ(notes, 2);
}

TEST_F(ForeignTest, StopsARunBeforeItsTargetIsDeployed) {
  farm_.foreign({"queue/theirs.job"});
  const Ending ending = farm_.await(exercise(farm_.stage, farm_.plan));
  EXPECT_EQ(ending.reason, "preflight");
  EXPECT_EQ(ending.problems.size(), 1u);
  for (const std::string& entry : farm_.history) {
    EXPECT_EQ(entry.find("farm deploy"), std::string::npos) << entry;
  }
}

TEST_F(ForeignTest, IsNoneOfTheItemsThatTheRunIsAbout) {
  farm_.bundle.lab.allow_foreign = true;
  farm_.bundle.scenario.run_limit = std::chrono::milliseconds{20};
  farm_.foreign({"done/theirs.job"});
  farm_.items({"done/theirs.job", "queue/shot-1.job"});
  (void)farm_.await(exercise(farm_.stage, farm_.plan));
  for (const Json& data : farm_.all("snapshot")) {
    if (data.at("scope") != "items" || data.at("when") != "before") continue;
    EXPECT_EQ(data.at("what").at("items").size(), 1u);
    EXPECT_EQ(data.at("what").at("foreign"), Json::parse(R"(["done/theirs.job"])"));
    return;
  }
  FAIL() << "nothing was handed in";
}

TEST_F(ForeignTest, IsNoWorkloadOfOurs) {
  farm_.bundle.lab.allow_foreign = true;
  farm_.foreign({"done/shot-1.job"});
  farm_.items({"done/shot-1.job"});
  const Ending ending = farm_.await(exercise(farm_.stage, farm_.plan));
  EXPECT_EQ(ending.reason, "target");
  EXPECT_NE(ending.why.find("were there before"), std::string::npos) << ending.why;
}

}  // namespace
}  // namespace unplug::run
