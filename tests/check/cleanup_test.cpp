// Residue: after minus before, minus what is kept, minus what is allowed.
#include "journal_builder.hpp"

namespace unplug::check {
namespace {

struct Cleanup : testing::Test {
  Cleanup() {
    judging.expect("cleanup");
    before(story);
    story.frozen(20, 24);
  }
  static void before(Story& s) {
    for (const char* node : {"node1", "node2"}) {
      s.node_lists(3, "before", node, {"share:old.txt"}, {"tcp 127.0.0.1:22"});
    }
  }
  void after(std::vector<std::string> files, std::vector<std::string> ports = {},
             bool truncated = false) {
    story.node_lists(45, "after", "node1", {"share:old.txt"}, {"tcp 127.0.0.1:22"});
    files.push_back("share:old.txt");
    ports.push_back("tcp 127.0.0.1:22");
    story.node_lists(45, "after", "node2", files, ports, truncated);
  }
  Finding judge() {
    if (story.memory.events.back().kind != "run_closed") story.close(46);
    return only(judging.judge(story));
  }
  Judging judging;
  Story story;
};

TEST_F(Cleanup, HoldsWhenNothingIsNew) {
  after({});
  EXPECT_EQ(judge().says, Says::kPass) << judge().text;
}

TEST_F(Cleanup, FailsForANewFileAndNamesIt) {
  after({"work:shot-2.part"});
  EXPECT_EQ(judge().says, Says::kFail);
  EXPECT_EQ(judge().text, "1 left behind");
  EXPECT_EQ(judge().witnesses.at(0).text, "file work:shot-2.part at node2");
}

TEST_F(Cleanup, DoesNotBlameTheTargetForWhatIsLeftUnderAFaultThatStays) {
  story.fault(30, "freeze", "stranded", {{"why", "still stopped: 42"}});
  after({"work:shot-2.part"});
  EXPECT_EQ(judge().says, Says::kCannotTell);
  EXPECT_EQ(judge().text, "1 left behind, while freeze was not undone");
}

TEST_F(Cleanup, FailsForANewPort) {
  after({}, {"tcp 0.0.0.0:5000"});
  EXPECT_EQ(judge().witnesses.at(0).text, "port tcp 0.0.0.0:5000 at node2");
}

TEST_F(Cleanup, KeepsWhatTheTargetKeeps) {
  after({"share:done/shot-2.mp4"});
  EXPECT_EQ(judge().says, Says::kPass);
}

TEST_F(Cleanup, AllowsWhatTheExpectationAllows) {
  judging.scenario.expect[0].allow = {"work:*.part", "cache/"};
  after({"work:shot-2.part", "work:cache/a/b"});
  EXPECT_EQ(judge().says, Says::kPass) << judge().text;
}

TEST_F(Cleanup, TellsApartWhatTheBaselineLeavesAndFailsAllTheSame) {
  Story undisturbed;
  before(undisturbed);
  undisturbed.node_lists(45, "after", "node2", {"share:old.txt", "work:lock"},
                         {"tcp 127.0.0.1:22"});
  undisturbed.node_lists(45, "after", "node1", {"share:old.txt"}, {"tcp 127.0.0.1:22"});
  judging.baseline = undisturbed;
  after({"work:lock", "work:shot-2.part"});
  const Finding finding = judge();
  EXPECT_EQ(finding.says, Says::kFail);
  EXPECT_EQ(finding.text, "2 left behind, 1 of them by the undisturbed run too");
  EXPECT_EQ(finding.witnesses.at(0).text, "file work:lock at node2 (also_undisturbed)");
}

TEST_F(Cleanup, FailsForAProcessThatOutlivesTheRun) {
  story.proc(11, "worker-2", 42, "start");
  after({});
  EXPECT_EQ(judge().says, Says::kFail);
  EXPECT_EQ(judge().witnesses.at(0).text, "process 42 (worker of worker-2) at node2");
}

TEST_F(Cleanup, CannotTellOfProcessesWhenTheObserverNeverEnded) {
  story.proc(11, "worker-2", 42, "start");
  after({});
  story.add(60, "run_closed", {{"reason", "done"}});
  EXPECT_EQ(judge().says, Says::kCannotTell);
}

TEST_F(Cleanup, CannotTellWithoutASnapshotOfANode) {
  story.node_lists(45, "after", "node1", {"share:old.txt"}, {"tcp 127.0.0.1:22"});
  EXPECT_EQ(judge().says, Says::kCannotTell);
  EXPECT_NE(judge().text.find("no whole list of files of node2 after"), std::string::npos)
      << judge().text;
}

TEST_F(Cleanup, CannotTellFromAListThatWasCutOff) {
  after({}, {}, true);
  EXPECT_EQ(judge().says, Says::kCannotTell);
}

TEST_F(Cleanup, FailsForWhatACutOffListStillShows) {
  after({"work:shot-2.part"}, {}, true);
  EXPECT_EQ(judge().says, Says::kFail);
}

TEST_F(Cleanup, IsAResponseAndNeedsAConfirmedFault) {
  story.plan("noop");
  after({"work:shot-2.part"});
  EXPECT_EQ(judge().says, Says::kCannotTell);
  EXPECT_EQ(judge().otherwise, "fail: 1 left behind");
}

}  // namespace
}  // namespace unplug::check
