// A fault that cuts its node off is proved from outside while it lasts and by the node's own record
// afterwards, and by nothing else; what is lost with the session is read from the guard's log.
//
// A false pass would be a sleeper that is asked while it sleeps: the history says who was asked
// when.
#include <gtest/gtest.h>

#include <algorithm>

#include "run/fake_lab.hpp"

namespace unplug::run {
namespace {

using States = std::vector<std::string>;

// The last look from outside comes 0.8 s before the end; that leaves a few.
constexpr auto kHold = 1200ms;

scenario::Bundle with_sleep() {
  scenario::Fault sleep;
  sleep.id = "sleep";
  sleep.injector = "node_sleep";
  sleep.params["node"].text = "worker 2";
  sleep.params["witness"].text = "node 1";
  sleep.trigger = scenario::At{};
  sleep.hold = kHold;
  scenario::Injector injector;
  injector.name = "node_sleep";
  injector.params = {{"node", "node", {}, {}}, {"witness", "node", {}, {}}};
  injector.roles = {{"sleeper", "node", true}, {"witness", "witness", false}};
  injector.cuts = scenario::Cuts::kNode;
  injector.undo = scenario::Undo::kSelf;
  injector.platforms[scenario::Platform::kLinux] = {};
  auto bundle = farm({sleep});
  bundle.injectors["node_sleep"] = injector;
  bundle.lab.limits.margin = 50ms;
  return bundle;
}

class CutOff : public testing::Test {
 protected:
  // What the witness says to `verify`, one after the other; the last stays.
  void witness(std::deque<int> says) {
    lab.answer("UNPLUG_ROLE=witness", [this, says](node::FakeRun& run) mutable {
      const bool reverted = run.call.line.ends_with("verify_reverted");
      const int status = reverted ? 0 : says.front();
      if (!reverted && says.size() > 1) says.pop_front();
      lab.history.push_back(reverted ? "witness reverted" : "witness");
      run.exit(status);
    });
  }
  bool has(const std::string& state) const {
    const States states = lab.states("sleep");
    return std::ranges::find(states, state) != states.end();
  }

  FakeLab lab{with_sleep()};
};

TEST_F(CutOff, IsProvisionalFromOutsideAndConfirmedByTheNodeAfterwards) {
  witness({1, 0});
  lab.live();
  EXPECT_EQ(lab.states("sleep"), (States{"journaled", "armed", "fired", "provisional", "confirmed",
                                         "reverting", "reverting", "reverted", "reverted"}));
  const int provisional = lab.at("journal provisional sleep");
  const int asked = lab.at("node2 verify sleep");
  EXPECT_LT(lab.at("witness"), provisional);
  EXPECT_LT(provisional, asked) << "the sleeper was asked while it slept";
  EXPECT_LT(asked, lab.at("journal confirmed sleep"));
  EXPECT_LT(lab.at("journal confirmed sleep"), lab.at("node2 < revert sleep"));
  for (const journal::Json& proof : lab.all("proof")) {
    const bool by_record = proof.at("role") == "sleeper" && proof.at("of") == "effect";
    EXPECT_EQ(proof.value("afterwards", false), by_record) << proof.dump();
  }
}

TEST_F(CutOff, StartsTheWholeLeaseRightBeforeItFires) {
  witness({0});
  lab.live();
  const int fire = lab.at("node2 < fire sleep");
  ASSERT_GT(fire, 0);
  EXPECT_EQ(lab.history.at(static_cast<std::size_t>(fire) - 1), "node2 < renew sleep");
}

TEST_F(CutOff, HasNoEffectWhenNobodyOutsideSawIt) {
  witness({1});
  lab.live();
  EXPECT_FALSE(has("provisional"));
  EXPECT_FALSE(has("confirmed"));
  EXPECT_NE(lab.last("sleep", "no_effect").value("why", "").find("from outside"),
            std::string::npos);
  EXPECT_TRUE(has("reverted"));
}

TEST_F(CutOff, EndedEarlyWhenItAnswersMeanwhile) {
  witness({0, 1});
  lab.live();
  EXPECT_TRUE(has("provisional"));
  EXPECT_TRUE(has("ended_early"));
  EXPECT_FALSE(has("confirmed"));
}

TEST_F(CutOff, HasNoEffectWhenItsRecordDoesNotShowIt) {
  witness({0});
  lab.guard("sleep").verify = {1};
  lab.live();
  EXPECT_TRUE(has("provisional"));
  EXPECT_FALSE(has("confirmed"));
  EXPECT_NE(lab.last("sleep", "no_effect").value("why", "").find("record"), std::string::npos);
}

TEST_F(CutOff, LooksAgainUntilItsRecordIsWritten) {
  witness({0});
  lab.guard("sleep").verify = {1, 0};
  lab.live();
  EXPECT_TRUE(has("confirmed"));
}

// The session breaks with `fired` in it: the guard's log has it, and its time.
TEST_F(CutOff, ReadsFromTheGuardsLogWhatTheSessionLost) {
  witness({0});
  FakeGuard& guard = lab.guard("sleep");
  guard.fire = FakeGuard::Fire::kFiresAndVanishes;
  guard.log = {R"({"guard":"armed","gen":1,"nt":1000000000,"boot":"boot-of-node2"})",
               R"({"guard":"fired","nt":6000000000})"};
  lab.live();
  EXPECT_TRUE(has("confirmed"));
  EXPECT_TRUE(has("reverted"));
  const auto fired = std::ranges::find_if(lab.journal.memory.events, [](const auto& event) {
    return event.kind == "fault" && event.data.at("state") == "fired";
  });
  ASSERT_NE(fired, lab.journal.memory.events.end());
  ASSERT_TRUE(fired->node_time);
  EXPECT_EQ(fired->node_time->ns, 6'000'000'000);
}

}  // namespace
}  // namespace unplug::run
