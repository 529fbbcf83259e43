// From the lines of observers to events, and what the run learns from them while it goes on.
#include "run/observation.hpp"

#include <gtest/gtest.h>

#include "run/fake_farm.hpp"

namespace unplug::run {
namespace {

using journal::Json;

TEST(ObserveConf, ListsWhatANodeIsToWatch) {
  const scenario::Bundle bundle = shipped_farm({});
  const std::string conf = observe_conf(bundle, plan(bundle, 1), "node1");
  EXPECT_NE(conf.find("log\tworker@worker-1\tlogs/worker.worker-1.log\n"), std::string::npos);
  EXPECT_EQ(conf.find("worker-2"), std::string::npos);
  EXPECT_NE(conf.find("files\tshare\t200\t/scratch/farm\tqueue/*.job\tclaimed/*/*.job\t"),
            std::string::npos)
      << conf;
  EXPECT_NE(conf.find("\tdone/*.mp4\t"), std::string::npos) << conf;
  EXPECT_NE(conf.find("procs\tprocs\t500\n"), std::string::npos);
  EXPECT_NE(conf.find("part\trenderer\tworker\t^ffmpeg \n"), std::string::npos);
  EXPECT_NE(conf.find("job\t/scratch/work\n"), std::string::npos);
}

TEST(ObserveConf, WatchesFilesOnlyWhereTheFolderIs) {
  const scenario::Bundle bundle = shipped_farm({});
  const std::string conf = observe_conf(bundle, plan(bundle, 1), "node2");
  EXPECT_EQ(conf.find("files\t"), std::string::npos);
  EXPECT_NE(conf.find("log\tworker@worker-2\t"), std::string::npos);
}

class ObservationTest : public testing::Test {
 protected:
  ObservationTest()
      : observation_(farm_.stage, [this](const SeenEvent& seen) { seen_.push_back(seen); }) {}

  void start() { ASSERT_EQ(farm_.await(observation_.start()), ""); }
  void say(const std::string& node, const Json& line) { farm_.followed[node]->say(line.dump()); }
  void wait_for(const std::string& kind, std::size_t count) {
    ASSERT_TRUE(farm_.run_until([&] { return farm_.all(kind).size() >= count; }))
        << farm_.all(kind).size() << " of " << kind;
  }

  FakeFarm farm_;
  std::vector<SeenEvent> seen_;
  Observation observation_;
};

TEST_F(ObservationTest, TurnsLogLinesIntoTargetEventsAndWork) {
  start();
  say("node2", {{"k", "line"}, {"o", "log@worker-2"}, {"nt", 1}, {"text", "frame shot-1 8"}});
  say("node2", {{"k", "line"}, {"o", "worker@worker-2"}, {"nt", 1}, {"text", "no event"}});
  say("node2", {{"k", "line"},
                {"o", "worker@worker-2"},
                {"nt", 1100000000},
                {"inode", 5},
                {"offset", 77},
                {"text", "claimed shot-1 node2~9"}});
  wait_for("work", 1);
  const auto targets = farm_.all("target");
  ASSERT_EQ(targets.size(), 1u);
  EXPECT_EQ(targets[0].at("event"), "claimed");
  EXPECT_EQ(targets[0].at("seat"), "worker-2");
  EXPECT_EQ(targets[0].at("offset"), 77);
  EXPECT_EQ(targets[0].at("fields").at("item"), "shot-1");
  EXPECT_EQ(farm_.all("work")[0].at("edge"), "begin");
  ASSERT_EQ(seen_.size(), 1u);
  EXPECT_EQ(seen_[0].fields.at("token"), "node2~9");
  const auto& event = farm_.journal.memory.events.back();
  EXPECT_EQ(event.src, "observer:worker@worker-2");
  ASSERT_TRUE(event.node_time);
  EXPECT_EQ(event.node_time->boot, "boot-of-node2");
}

TEST_F(ObservationTest, IsAtRestWhenEveryItemHandedInIsTerminal) {
  start();
  observation_.handed_in(Json::parse(R"([["queue/a.job",0],["queue/b.job",0]])"));
  EXPECT_FALSE(observation_.at_rest());
  farm_.sees({"done/a.job", "done/a.mp4", "claimed/n~7/b.job"});
  wait_for("snapshot", 2);
  EXPECT_FALSE(observation_.at_rest());
  farm_.sees({"done/a.job", "failed/b.job"});
  wait_for("snapshot", 3);
  EXPECT_TRUE(observation_.at_rest());
  EXPECT_EQ(observation_.items().at("b"), "failed");
}

TEST_F(ObservationTest, IsNotAtRestBeforeTheWorkloadIsHandedIn) {
  start();
  farm_.sees({"done/old.job"});
  wait_for("snapshot", 1);
  EXPECT_FALSE(observation_.at_rest());
}

TEST_F(ObservationTest, ShowsADoubledItemTwiceAndDoesNotRestOnIt) {
  start();
  observation_.handed_in(Json::parse(R"([["queue/a.job",0]])"));
  farm_.sees({"done/a.job", "queue/a.job"});
  wait_for("snapshot", 2);
  EXPECT_EQ(farm_.all("snapshot").back().at("what").at("items").size(), 2u);
  EXPECT_FALSE(observation_.at_rest());
}

TEST_F(ObservationTest, TellsForeignItemsOutputsAndPartialFilesApart) {
  start();
  observation_.handed_in(Json::parse(R"([["queue/a.job",0]])"));
  const ItemFiles read = observation_.read_items(Json::parse(
      R"([["queue/theirs.job",0],["claimed/n~7/a.job",0],["claimed/n~7/a.part",3],
          ["done/a.mp4",9],["unknown/x",1]])"));
  EXPECT_EQ(read.what.at("foreign"), Json::parse(R"(["queue/theirs.job"])"));
  ASSERT_EQ(read.what.at("items").size(), 1u);
  EXPECT_EQ(read.what.at("items")[0].at("state"), "claimed");
  EXPECT_EQ(read.what.at("items")[0].at("owner"), "n");
  EXPECT_EQ(read.what.at("partial"), Json::parse(R"(["claimed/n~7/a.part"])"));
  EXPECT_EQ(read.what.at("outputs")[0].at("size"), 9);
  EXPECT_FALSE(read.states.contains("theirs"));
}

TEST_F(ObservationTest, TakesNoStateFromATornListing) {
  start();
  observation_.handed_in(Json::parse(R"([["queue/a.job",0]])"));
  farm_.sees({"done/a.job"}, false);
  wait_for("snapshot", 2);
  EXPECT_FALSE(observation_.at_rest());
  EXPECT_EQ(farm_.all("snapshot").back().at("clean"), false);
}

TEST_F(ObservationTest, ReportsAHoleInTheCoverage) {
  start();
  say("node1", {{"k", "alive"}, {"nt", 2000000000}});
  say("node1", {{"k", "alive"}, {"nt", 9000000000}});
  wait_for("observer", 3);  // two begins and the gap
  const Json gap = farm_.all("observer").back();
  EXPECT_EQ(gap.at("edge"), "gap");
  EXPECT_EQ(gap.at("from"), 2000000000);
  EXPECT_EQ(gap.at("to"), 9000000000);
}

TEST_F(ObservationTest, ReportsWhatNobodySawWhileTheObserverWasStartedAgain) {
  start();
  say("node1", {{"k", "alive"}, {"nt", 2000000000}});
  say("node1", {{"k", "begin"}, {"boot", "boot-of-node1"}, {"nt", 3000000000}});
  wait_for("observer", 3);  // two begins and the gap
  const Json gap = farm_.all("observer").back();
  EXPECT_EQ(gap.at("edge"), "gap");
  EXPECT_EQ(gap.at("from"), 2000000000);
  EXPECT_EQ(gap.at("to"), 3000000000);
}

TEST_F(ObservationTest, BeginsAnewInAnotherBootOfTheNode) {
  start();
  say("node1", {{"k", "alive"}, {"nt", 2000000000}});
  say("node1", {{"k", "begin"}, {"boot", "the-next-boot"}, {"nt", 500000000}});
  wait_for("observer", 4);
  const auto events = farm_.all("observer");
  EXPECT_EQ(events[2].at("edge"), "end");
  EXPECT_EQ(events[2].at("to"), 2000000000);
  EXPECT_EQ(events[3].at("edge"), "begin");
  EXPECT_EQ(events[3].at("from"), 500000000);
}

// The reader of a stream cuts a line of over 1 MiB; the bytes behind the cut were there all the
// same.
TEST_F(ObservationTest, FollowsOnBehindALineThatIsTooLong) {
  start();
  const std::string first = R"({"k":"begin","boot":"boot-of-node1","nt":1000000000})";
  const std::string longest = "{\"k\":\"line\",\"text\":\"" + std::string(1'500'000, 'x') + "\"}";
  const std::string next = R"({"k":"proc","nt":1400000000,"edge":"start","pid":42,"start":7})";
  farm_.followed["node1"]->say(longest);
  farm_.followed["node1"]->say(next);
  wait_for("proc", 1);
  farm_.node("node1").lose("cable");
  farm_.node("node1").come_back();
  const std::size_t behind = first.size() + longest.size() + next.size() + 3;
  const std::string again =
      "node1 cd .unplug/run1 && sh sh/observe.sh follow " + std::to_string(behind);
  EXPECT_TRUE(farm_.run_until([&] { return farm_.at(again) >= 0; }));
}

TEST_F(ObservationTest, JournalsProcessesWithTheirBoot) {
  start();
  say("node2", {{"k", "proc"},
                {"o", "procs"},
                {"nt", 1},
                {"edge", "gone"},
                {"pid", 42},
                {"start", 7},
                {"ppid", 1},
                {"part", "worker"},
                {"seat", "worker-2"}});
  wait_for("proc", 1);
  const Json proc = farm_.all("proc")[0];
  EXPECT_EQ(proc.at("boot"), "boot-of-node2");
  EXPECT_EQ(proc.at("parent"), 1);
  EXPECT_TRUE(proc.at("exit").is_null());  // unknown, never 0
}

TEST(ObservationOfExits, JournalsHowAProcessEndedAsItsSupervisorSays) {
  FakeFarm farm;
  scenario::Target& target = farm.bundle.target;
  target.logs.push_back({"supervisor", "worker", "$UNPLUG_LOGS/supervisor.$SEAT.log"});
  for (scenario::Part& part : target.parts) {
    if (part.name != "worker") continue;
    part.exits = scenario::ExitLine{
        "supervisor", "^worker ([0-9]+) exited ([0-9]+)$", {{"pid", 1}, {"code", 2}}};
  }
  Observation observation(farm.stage, [](const SeenEvent&) {});
  ASSERT_EQ(farm.await(observation.start()), "");
  const Json line{{"k", "line"},
                  {"o", "supervisor@worker-2"},
                  {"nt", 1100000000},
                  {"text", "worker 42 exited 137"}};
  farm.followed["node2"]->say(line.dump());
  ASSERT_TRUE(farm.run_until([&] { return !farm.all("proc").empty(); }));
  const Json proc = farm.all("proc")[0];
  EXPECT_EQ(proc.at("edge"), "exited");
  EXPECT_EQ(proc.at("pid"), 42);
  EXPECT_TRUE(proc.at("start").is_null());
  EXPECT_EQ(proc.at("boot"), "boot-of-node2");
  EXPECT_EQ(proc.at("part"), "worker");
  EXPECT_EQ(proc.at("seat"), "worker-2");
  EXPECT_EQ(proc.at("exit"), Json({{"signal", "KILL"}}));
}

TEST_F(ObservationTest, JournalsAListThatKeptChangingAsTorn) {
  start();
  observation_.handed_in(Json::parse(R"([["queue/a.job",0]])"));
  observation_.at_capture(nullptr);
  const Json torn = farm_.all("snapshot").back();
  EXPECT_EQ(torn.at("when"), "after");
  EXPECT_EQ(torn.at("clean"), false);
}

TEST_F(ObservationTest, LosesNoLineAfterOneThatIsNotAsTheProtocolSays) {
  start();
  say("node1", {{"k", "files"}, {"o", "share"}, {"nt", 1}, {"clean", true}});
  say("node1", {{"k", 7}});
  farm_.followed["node1"]->say("half a li");
  farm_.sees({"queue/a.job"});
  wait_for("snapshot", 1);
  EXPECT_FALSE(farm_.all("note").empty());
}

TEST_F(ObservationTest, StopsWithTheEndOfEveryObserver) {
  start();
  farm_.await(observation_.stop());
  int ends = 0;
  for (const Json& data : farm_.all("observer")) ends += data.at("edge") == "end" ? 1 : 0;
  EXPECT_EQ(ends, 2);
}

TEST_F(ObservationTest, AsksAgainForALineThatALostSessionCutShort) {
  start();
  const std::size_t begin =
      std::string(R"({"k":"begin","boot":"boot-of-node1","nt":1000000000})").size() + 1;
  farm_.followed["node1"]->out(R"({"k":"alive","nt":15)");
  // It has to be with us before the session goes.
  (void)farm_.loop.run_until([&, n = 0]() mutable { return ++n > 5; });
  farm_.node("node1").lose("cable");
  farm_.node("node1").come_back();
  const std::string again =
      "node1 cd .unplug/run1 && sh sh/observe.sh follow " + std::to_string(begin);
  EXPECT_TRUE(farm_.run_until([&] { return farm_.at(again) >= 0; }));
}

// A false pass would be a listener that is gone and is called all the same: a sanitizer sees it.
TEST(ObservationLife, EndsItsFollowersWhenItGoes) {
  FakeFarm farm;
  {
    Observation observation(farm.stage, [](const SeenEvent&) {});
    ASSERT_EQ(farm.await(observation.start()), "");
  }
  const std::size_t before = farm.journal.memory.events.size();
  farm.sees({"queue/a.job"});
  (void)farm.loop.run_until([&, n = 0]() mutable { return ++n > 10; });
  EXPECT_EQ(farm.journal.memory.events.size(), before);
}

}  // namespace
}  // namespace unplug::run
