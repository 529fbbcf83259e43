#include "run/plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.hpp"
#include "run/plan_builder.hpp"

namespace unplug::run {
namespace {

using namespace std::chrono_literals;

scenario::When frame_8_of_worker_2() {
  scenario::When when;
  when.event = "frame";
  when.from = scenario::parse_selector("worker 2");
  when.numbers = {{"n", 8}};
  return when;
}

std::string value_of(const Vars& vars, const std::string& name) {
  const auto found = std::ranges::find_if(vars, [&](const auto& v) { return v.first == name; });
  return found == vars.end() ? "(missing)" : found->second;
}

TEST(Plan, SeatsPartsByPosition) {
  const Plan planned = plan(farm({}), 1);
  ASSERT_EQ(planned.seats.size(), 3u);
  EXPECT_EQ(planned.seat("server-1")->node, "node1");
  EXPECT_EQ(planned.seat("worker-2")->node, "node2");
  EXPECT_EQ(planned.nodes, (std::vector<std::string>{"node1", "node2"}));
}

TEST(Plan, RefusesAPositionThatTheLabHasNot) {
  scenario::Bundle bundle = farm({});
  bundle.scenario.place["worker"] = {1, 3};
  EXPECT_THROW(plan(bundle, 1), Error);
}

TEST(Plan, CallsAScriptInOneLine) {
  const auto bundle = farm({fault("kill", "process_kill", "worker 2", scenario::At{2s})});
  const Plan planned = plan(bundle, 1);
  const FaultPlan& kill = planned.faults.at(0);
  EXPECT_EQ(kill.call(kill.actor(), "probe").line(),
            "UNPLUG_FAULT=kill UNPLUG_ROLE=victim UNPLUG_PROCESS_PART=worker "
            "UNPLUG_PROCESS_SEAT=worker-2 UNPLUG_PROCESS_FOUND=record UNPLUG_SIGNAL=KILL "
            "UNPLUG_SCRATCH=/scratch UNPLUG_ROOT_BY=already sh sh/verb.sh process_kill probe");
}

scenario::Injector node_injector() {
  scenario::Injector injector;
  injector.name = "fill";
  injector.params = {{"node", "node", {}, {}},
                     {"witness", "node", {}, {}},
                     {"volume", "path", "$SCRATCH/x", "node"},
                     {"model", "model", {}, "node"}};
  injector.roles = {{"victim", "node", true}, {"witness", "witness", false}};
  injector.platforms[scenario::Platform::kLinux] = {};
  return injector;
}

scenario::Bundle with_node_fault() {
  scenario::Fault made;
  made.id = "fill";
  made.injector = "fill";
  made.params["node"].text = "worker 2";
  made.params["witness"].text = "node 1";
  made.params["model"].text = "look";
  made.trigger = scenario::At{2s};
  made.hold = 6s;
  auto bundle = farm({made});
  bundle.injectors["fill"] = node_injector();
  bundle.target.models = {{"look", "worker", "$SCRATCH/model/look.cube", "model.sha256"}};
  return bundle;
}

TEST(Plan, TellsAnInjectorOfANodeWhereThingsAreThere) {
  const FaultPlan fill = plan(with_node_fault(), 1).faults.at(0);
  EXPECT_EQ(fill.seat, "worker-2");
  const Vars& vars = fill.actor().vars;
  EXPECT_EQ(fill.actor().node, "node2");
  EXPECT_EQ(value_of(vars, "UNPLUG_NODE_SEAT"), "worker-2");
  EXPECT_EQ(value_of(vars, "UNPLUG_NODE_ADDRESS"), "10.77.0.12");
  EXPECT_EQ(value_of(vars, "UNPLUG_NODE_PORT"), "22");
  EXPECT_EQ(value_of(vars, "UNPLUG_WITNESS_ADDRESS"), "10.77.0.11");
  EXPECT_EQ(value_of(vars, "UNPLUG_VOLUME"), "/scratch/x");
  EXPECT_EQ(value_of(vars, "UNPLUG_SCRATCH"), "/scratch");
  EXPECT_EQ(value_of(vars, "UNPLUG_HOLD"), "6");
  EXPECT_EQ(value_of(vars, "UNPLUG_MODEL"), "/scratch/model/look.cube");
  EXPECT_EQ(value_of(vars, "UNPLUG_MODEL_MANIFEST"), "targets/farm/model.sha256");
  ASSERT_EQ(fill.roles.size(), 2u);
  EXPECT_EQ(fill.roles.at(1).node, "node1");
}

scenario::Bundle with_link_fault(const std::string& near) {
  scenario::Fault made;
  made.id = "drop";
  made.injector = "drop";
  made.params["link"].between = {"server 1", "worker 2"};
  made.params["near"].text = near;
  made.trigger = scenario::At{2s};
  made.hold = 6s;
  auto bundle = farm({made});
  scenario::Injector injector;
  injector.name = "drop";
  injector.params = {{"link", "link", {}, {}}, {"near", "node", {}, "link"}};
  injector.roles = {{"near", "link.near", true}, {"far", "link.far", false}};
  injector.platforms[scenario::Platform::kLinux] = {};
  bundle.injectors["drop"] = injector;
  return bundle;
}

TEST(Plan, AFaultOfALinkIsAboutTheSeatThatNamesItsNearEnd) {
  const FaultPlan drop = plan(with_link_fault("worker 2"), 1).faults.at(0);
  EXPECT_EQ(drop.seat, "worker-2");
  EXPECT_EQ(drop.instance, "drop");
  EXPECT_EQ(drop.actor().node, "node2");
  EXPECT_EQ(value_of(drop.actor().vars, "UNPLUG_LINK_ADDRESS"), "10.78.1.2/30");
  EXPECT_EQ(value_of(drop.actor().vars, "UNPLUG_LINK_PEER"), "10.78.1.1/30");
  ASSERT_EQ(drop.roles.size(), 2u);
  EXPECT_EQ(drop.roles.at(1).node, "node1");
  EXPECT_EQ(value_of(drop.roles.at(1).vars, "UNPLUG_LINK_PEER"), "10.78.1.2/30");
}

TEST(Plan, AFaultOfALinkBetweenBareNodesIsAboutNoSeat) {
  const FaultPlan drop = plan(with_link_fault("node 1"), 1).faults.at(0);
  EXPECT_EQ(drop.seat, "");
  EXPECT_EQ(drop.actor().node, "node1");
}

TEST(Plan, RefusesAVolumeWhereTheLabNamesNone) {
  auto bundle = with_node_fault();
  bundle.lab.nodes.at(1).scratch.clear();
  EXPECT_THROW(plan(bundle, 1), Error);
}

TEST(Plan, RefusesAModelThatTheTargetHasNot) {
  auto bundle = with_node_fault();
  bundle.target.models.clear();
  EXPECT_THROW(plan(bundle, 1), Error);
}

TEST(Plan, RefusesACutOffNodeThatNobodyElseSees) {
  auto bundle = with_node_fault();
  bundle.injectors["fill"].cuts = scenario::Cuts::kNode;
  bundle.scenario.faults.at(0).params["witness"].text = "node 2";
  EXPECT_THROW(plan(bundle, 1), Error);
}

TEST(Plan, FindsAChildThroughItsParent) {
  const auto bundle = farm({fault("kill", "process_kill", "renderer 1", scenario::At{2s})});
  const FaultPlan kill = plan(bundle, 1).faults.at(0);
  EXPECT_EQ(kill.actor().node, "node1");
  EXPECT_EQ(value_of(kill.actor().vars, "UNPLUG_PROCESS_FOUND"), "child worker ^ffmpeg ");
}

TEST(Plan, ArmsATriggerOnTheNodeWhenEventAndVictimShareIt) {
  const auto bundle = farm({fault("near", "process_kill", "worker 2", frame_8_of_worker_2()),
                            fault("across", "process_kill", "worker 1", frame_8_of_worker_2())});
  const Plan planned = plan(bundle, 1);
  EXPECT_TRUE(planned.faults.at(0).armed_on_node);
  EXPECT_FALSE(planned.faults.at(1).armed_on_node);
  const Vars vars = planned.faults.at(0).guard_call().vars;
  EXPECT_EQ(value_of(vars, "UNPLUG_WHEN_LOG"), "logs/worker.worker-2.log");
  EXPECT_EQ(value_of(vars, "UNPLUG_WHEN_FIELDS"), "n=2:ge:8");
}

TEST(Plan, MakesOneInstancePerVictim) {
  const auto bundle = farm({fault("all", "process_kill", "all worker", scenario::At{2s})});
  const Plan planned = plan(bundle, 1);
  ASSERT_EQ(planned.faults.size(), 2u);
  EXPECT_EQ(planned.faults.at(0).instance, "all.worker-1");
  EXPECT_EQ(planned.faults.at(1).instance, "all.worker-2");
}

TEST(Plan, DrawsTheSameForTheSameSeedAndInsideTheBounds) {
  const auto bundle =
      farm({fault("any", "process_kill", "any worker", scenario::Between{5s, 30s})});
  int on_first = 0;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    const FaultPlan once = plan(bundle, seed).faults.at(0);
    const FaultPlan again = plan(bundle, seed).faults.at(0);
    EXPECT_EQ(once.drawn, again.drawn);
    EXPECT_EQ(once.actor().node, again.actor().node);
    EXPECT_GE(*once.drawn, 5s);
    EXPECT_LE(*once.drawn, 30s);
    on_first += once.actor().node == "node1" ? 1 : 0;
  }
  EXPECT_GT(on_first, 400);
  EXPECT_LT(on_first, 600);
}

TEST(Plan, AnotherFaultChangesNoDraw) {
  const auto alone = farm({fault("a", "process_kill", "any worker", scenario::Between{1s, 9s})});
  const auto both = farm({fault("b", "process_kill", "any worker", scenario::Between{1s, 9s}),
                          fault("a", "process_kill", "any worker", scenario::Between{1s, 9s})});
  EXPECT_EQ(plan(alone, 7).faults.at(0).drawn, plan(both, 7).faults.at(1).drawn);
}

TEST(Plan, GivesAFaultAHardLimitOfHoldMarginAndLease) {
  const auto bundle = farm({fault("f", "process_freeze", "worker 2", scenario::At{1s}, 6s)});
  const FaultPlan freeze = plan(bundle, 1).faults.at(0);
  EXPECT_EQ(freeze.lease, 3s);
  EXPECT_EQ(freeze.hard, 6s + 5s + 3s);
}

TEST(Plan, CoversTheHoldWithTheLeaseOnANodeThatIsCutOff) {
  scenario::Bundle bundle = farm({fault("f", "process_freeze", "worker 2", scenario::At{1s}, 6s),
                                  fault("s", "sleep_like", "worker 2", scenario::At{1s}, 8s),
                                  fault("g", "process_freeze", "worker 1", scenario::At{1s}, 6s)});
  scenario::Injector cutting = process_injector("sleep_like", false);
  cutting.cuts = scenario::Cuts::kNode;
  cutting.params.push_back({"witness", "node", {}, {}});
  cutting.roles.push_back({"witness", "witness", false});
  bundle.scenario.faults[1].params["witness"].text = "node 1";
  bundle.injectors["sleep_like"] = cutting;
  bundle.scenario.faults[0].params["process"].text = "renderer 2";
  const Plan planned = plan(bundle, 1);
  EXPECT_EQ(planned.faults.at(0).lease, 6s + 5s);
  EXPECT_EQ(planned.faults.at(1).lease, 8s + 5s);
  EXPECT_EQ(planned.faults.at(2).lease, 3s);
}

TEST(Plan, TellsEverySeatHowToReachTheOthersOverTheDataLink) {
  const Plan planned = plan(farm({}), 1);
  const auto groups = target_calls(farm({}), planned, "deploy");
  ASSERT_EQ(groups.size(), 2u);  // the server first, then the workers together
  ASSERT_EQ(groups[1].size(), 2u);
  EXPECT_EQ(value_of(groups[1][1].vars, "UNPLUG_PEERS"),
            "server-1=10.78.1.1 worker-1=10.78.1.1 worker-2=127.0.0.1");
  EXPECT_EQ(value_of(groups[1][1].vars, "UNPLUG_PARAM_CLAIM_LEASE"), "4");
}

TEST(Plan, ListsEveryCallOfARun) {
  const auto bundle = farm({fault("f", "process_freeze", "worker 2", scenario::At{1s}, 6s)});
  std::vector<std::string> verbs;
  for (const auto& planned : planned_calls(bundle, plan(bundle, 1))) {
    verbs.push_back(planned.call.verb);
  }
  EXPECT_EQ(verbs,
            (std::vector<std::string>{"probe", "deploy", "deploy", "deploy", "ready", "ready",
                                      "enqueue", "arm", "guard", "verify", "verify_reverted"}));
}

}  // namespace
}  // namespace unplug::run
