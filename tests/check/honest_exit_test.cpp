// honest_exit, and exits that another process' log tells.
#include "journal_builder.hpp"

namespace unplug::check {
namespace {

struct HonestExit : testing::Test {
  void expect(Says says, const std::string& text) {
    Judging judging;
    judging.target.parts.push_back({"launcher", "server", "", "", std::nullopt});
    judging.target.launcher = "launcher";
    judging.expect("honest_exit");
    const Finding finding = only(judging.judge(story));
    EXPECT_EQ(finding.says, says) << finding.text;
    EXPECT_NE(finding.text.find(text), std::string::npos) << finding.text;
  }
  void start() {
    story.proc(11, "server-1", 40, "start", nullptr, "launcher");
    story.proc(11, "worker-1", 41, "start");
    story.proc(11, "worker-2", 42, "start");
  }
  void ends(const Json& launcher, const Json& first, const Json& second) {
    story.proc(29, "worker-1", 41, "gone", first);
    story.proc(29, "worker-2", 42, "gone", second);
    story.proc(30, "server-1", 40, "gone", launcher, "launcher");
    story.close(45);
  }
  // The fault's victim is worker-2, pid 42.
  void frozen() { story.frozen(20, 24); }

  Story story;
};

const Json kExitZero{{"code", 0}}, kExitOne{{"code", 1}}, kUnknown = nullptr;

TEST_F(HonestExit, HoldsWhenAllEndWell) {
  start();
  frozen();
  ends(kExitZero, kExitZero, kExitZero);
  expect(Says::kPass, "launcher pid 40 of server-1 at node1 ended: exit 0, and so did every rank");
}

TEST_F(HonestExit, HoldsWhenTheLauncherFailsToo) {
  start();
  story.killed(20);
  ends(kExitOne, kExitOne, {{"signal", "KILL"}});
  expect(Says::kPass, "ended: exit 1");
}

TEST_F(HonestExit, FailsWhenWeKilledARank) {
  start();
  story.killed(20);
  ends(kExitZero, kExitZero, kUnknown);
  expect(Says::kFail,
         "exit 0, although worker pid 42 of worker-2 at node2 was killed by our fault");
}

TEST_F(HonestExit, FailsWhenARankFailed) {
  start();
  frozen();
  ends(kExitZero, kExitOne, kExitZero);
  expect(Says::kFail, "exit 0, although worker pid 41 of worker-1 at node1 ended: exit 1");
}

TEST_F(HonestExit, CannotTellFromUnknownExits) {
  start();
  frozen();
  const Story begun = story;
  ends(kUnknown, kExitZero, kExitZero);
  expect(Says::kCannotTell, "exit unknown");
  story = begun;
  ends(kExitZero, kUnknown, kExitZero);
  expect(Says::kCannotTell, "but worker pid 41 of worker-1 at node1 ended: exit unknown");
}

TEST_F(HonestExit, CannotTellWhenWeStoppedTheLauncher) {
  start();
  frozen();
  story.phase(28, "stop", "begin");
  ends(kExitZero, kExitZero, kExitZero);
  expect(Says::kCannotTell, "no launcher was seen to end before we stopped the target");
}

TEST_F(HonestExit, BelievesTheLineOfWhoeverWaitedForAProcess) {
  start();
  frozen();
  story.add(29.2, "proc",
            {{"pid", 41},
             {"boot", "boot"},
             {"edge", "exited"},
             {"part", "worker"},
             {"seat", "worker-1"},
             {"exit", kExitOne}},
            "node1", "observer:log", true);
  ends(kExitZero, kUnknown, kExitZero);
  expect(Says::kFail, "worker pid 41 of worker-1 at node1 ended: exit 1");
}

TEST_F(HonestExit, KnowsAProcessThatNobodySawByItsExit) {
  start();
  frozen();
  story.add(25, "proc",
            {{"pid", 99},
             {"boot", "boot"},
             {"edge", "exited"},
             {"part", "worker"},
             {"seat", "worker-1"},
             {"exit", kExitOne}},
            "node1", "observer:log", true);
  ends(kExitZero, kExitZero, kExitZero);
  expect(Says::kFail, "worker pid 99 of worker-1 at node1 ended: exit 1");
}

}  // namespace
}  // namespace unplug::check
