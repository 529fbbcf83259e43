// The whole job, and some of its items.
#include "journal_builder.hpp"

namespace unplug::check {
namespace {

struct Cancellation : testing::Test {
  Finding judge() {
    Judging judging;
    judging.target.items->cancelled = "cancelled";
    judging.target.items->states.push_back({"cancelled", ""});
    judging.target.items->terminal.push_back("cancelled");
    judging.baseline.emplace();
    judging.baseline->work(15, "worker-1", "shot-1", "begin");
    judging.baseline->work(20, "worker-1", "shot-1", "end");
    judging.expect("cancellation", "", 5);
    judging.scenario.expect.back().items = items;
    judging.scenario.expect.back().exit = exit;
    return only(judging.judge(story));
  }
  void expect(Says says, const std::string& text) {
    const Finding finding = judge();
    EXPECT_EQ(finding.says, says) << finding.text;
    EXPECT_NE(finding.text.find(text), std::string::npos) << finding.text;
  }
  void start() {
    story.items(12, "before", {{"shot-1", "queued"}, {"shot-2", "queued"}});
    story.proc(11, "worker-1", 41, "start");
    story.proc(11, "worker-2", 42, "start");
    story.work(15, "worker-2", "shot-2", "begin");
    story.proc(15.5, "worker-2", 77, "start", nullptr, "renderer");
    story.frame(16, "worker-2", "shot-2", 1);
    story.killed(20, "cancel");
  }
  void all_end(double at, Json exit_of_first = {{"signal", "TERM"}}) {
    story.proc(at, "worker-1", 41, "gone", exit_of_first);
    story.proc(at, "worker-2", 42, "gone", {{"signal", "TERM"}});
    story.proc(at, "worker-2", 77, "gone", nullptr, "renderer");
  }
  void item_ends(double at, const std::string& state) {
    story.work(at, "worker-2", "shot-2", "end", "lost_claim");
    story.items(at + 0.2, "poll", {{"shot-1", "claimed"}, {"shot-2", state}});
  }
  void finish(const std::string& state = "cancelled") {
    story.items(44, "after", {{"shot-1", "done"}, {"shot-2", state}});
    story.close(45);
  }

  Story story;
  std::vector<std::string> items;
  std::optional<scenario::WantedExit> exit;
};

// --- the whole job ---------------------------------------------------------------------------

TEST_F(Cancellation, HoldsWhenEveryProcessIsGoneInTime) {
  start();
  all_end(22);
  finish();
  expect(Says::kPass, "all 3 processes gone, the last after");
}

TEST_F(Cancellation, IsWatchedUntilWeEndWhatHasComeToRest) {
  start();
  all_end(22);
  story.phase(23, "stop", "begin");
  story.close(24);
  expect(Says::kPass, "all 3 processes gone, the last after");
}

TEST_F(Cancellation, TellsTheLadderOfSignals) {
  start();
  story.add(20.5, "signal", {{"pid", 42}, {"start", 7}, {"sig", "TERM"}, {"by", "unplug"}},
            "node2");
  all_end(22);
  finish();
  expect(Says::kPass, "signals: TERM to 42 by unplug after");
  EXPECT_EQ(judge().witnesses.back().text.substr(0, 21), "TERM to 42 by unplug ");
}

TEST_F(Cancellation, FailsWhenAProcessIsStillThere) {
  start();
  all_end(22);
  story.proc(11, "worker-1", 50, "start");
  story.proc(30, "worker-1", 50, "sample");
  finish();
  expect(Says::kFail, "worker pid 50 of worker-1 at node1 still there after");
}

TEST_F(Cancellation, FailsWhenAProcessNeverGoes) {
  start();
  all_end(22);
  story.proc(11, "worker-1", 50, "start");
  finish();
  expect(Says::kFail, "pid 50 of worker-1 at node1 never went away");
}

TEST_F(Cancellation, FailsWhenAProcessGoesLate) {
  start();
  all_end(29);
  finish();
  expect(Says::kFail, "5 s is allowed");
}

TEST_F(Cancellation, CannotTellAtTheLimit) {
  start();
  all_end(25.2);
  finish();
  expect(Says::kCannotTell, "too near to the allowed 5 s");
}

TEST_F(Cancellation, CannotTellWhatClocksLeaveOpen) {
  story = Story(8);
  start();
  all_end(22);
  finish();
  expect(Says::kCannotTell, "too near to the allowed 5 s");
}

TEST_F(Cancellation, CannotTellInAGap) {
  start();
  all_end(22);
  story.observer("node1", 24, "gap", 22.5, 24);
  finish();
  expect(Says::kCannotTell, "the processes of node1 were not watched all the time");
}

TEST_F(Cancellation, CannotTellWhatEndsOnlyWhenWeStopTheTarget) {
  start();
  story.phase(21, "stop", "begin");
  all_end(22);
  finish();
  expect(Says::kCannotTell, "perhaps only because we stopped it");
}

TEST_F(Cancellation, FailsWhenWorkGoesOn) {
  start();
  all_end(22);
  story.frame(27, "worker-2", "shot-2", 9);
  finish();
  expect(Says::kFail, "frame shot-2 9 by worker-2");
}

TEST_F(Cancellation, ComparesTheExitAndTakesAnUnknownOneForNothing) {
  exit = scenario::WantedExit{std::nullopt, "TERM"};
  start();
  all_end(22);
  finish();
  expect(Says::kPass, "all 3 processes gone");
  exit = scenario::WantedExit{143, ""};
  expect(Says::kFail, "expected: exit 143");
}

TEST_F(Cancellation, CannotTellAnUnknownExit) {
  exit = scenario::WantedExit{0, ""};
  start();
  all_end(22, nullptr);
  story.proc(21, "worker-2", 42, "gone", {{"code", 0}});
  finish();
  expect(Says::kCannotTell, "exit unknown, expected: exit 0");
}

// --- some items ------------------------------------------------------------------------------

TEST_F(Cancellation, HoldsWhenTheItemsWorkEndsAndOthersGoOn) {
  items = {"*-2"};
  start();
  item_ends(21, "cancelled");
  story.proc(21, "worker-2", 77, "gone", nullptr, "renderer");
  story.frame(30, "worker-1", "shot-1", 1);
  finish();
  expect(Says::kPass, "1 of 1 items cancelled, their processes gone");
}

TEST_F(Cancellation, FailsWhenTheRendererOfACancelledItemStays) {
  items = {"shot-2"};
  start();
  item_ends(21, "cancelled");
  story.proc(30, "worker-2", 77, "sample", nullptr, "renderer");
  finish();
  expect(Says::kFail, "renderer pid 77 of worker-2 at node2 still there");
  EXPECT_EQ(judge().witnesses.front().text, "renderer pid 77 of worker-2 at node2 still there");
}

TEST_F(Cancellation, FailsWhenACancelledItemIsDone) {
  items = {"shot-2"};
  start();
  item_ends(23, "done");
  story.proc(21, "worker-2", 77, "gone", nullptr, "renderer");
  finish("done");
  // The look before showed it open at 12 s: nobody can say that it was done after 20 s.
  expect(Says::kCannotTell, "perhaps before it was cancelled");
  story = Story();
  start();
  story.items(21, "poll", {{"shot-1", "queued"}, {"shot-2", "claimed"}});
  item_ends(23, "done");
  story.proc(21, "worker-2", 77, "gone", nullptr, "renderer");
  finish("done");
  expect(Says::kFail, "shot-2 was done although it was cancelled");
}

TEST_F(Cancellation, FailsWhenTheItemIsNotAtRestAsCancelled) {
  items = {"shot-2"};
  start();
  item_ends(21, "queued");
  story.proc(21, "worker-2", 77, "gone", nullptr, "renderer");
  finish("queued");
  expect(Says::kFail, "shot-2 was queued at last");
}

TEST_F(Cancellation, LeavesItemsAsideThatWereDoneBefore) {
  items = {"shot-1", "shot-2"};
  story.items(13, "poll", {{"shot-1", "done"}, {"shot-2", "queued"}});
  start();
  item_ends(21, "cancelled");
  story.proc(21, "worker-2", 77, "gone", nullptr, "renderer");
  finish();
  expect(Says::kPass, "1 of 2 items cancelled");
  items = {"shot-1"};
  expect(Says::kCannotTell, "done before it could be cancelled");
}

TEST_F(Cancellation, CannotTellOfItemsThatDoNotExist) {
  items = {"still-*"};
  start();
  finish();
  expect(Says::kCannotTell, "no item is called still-*");
}

}  // namespace
}  // namespace unplug::check
