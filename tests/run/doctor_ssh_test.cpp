#include "run/doctor_ssh.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "node/fake.hpp"
#include "node/loop.hpp"

namespace unplug::test {
namespace {

using namespace std::chrono_literals;
using node::Outcome;
using node::Way;
using run::Cell;
using run::Health;

run::SshFacts fine() {
  run::SshFacts facts;
  facts.node = "mini1";
  facts.stated_address = "mini1.local";
  facts.way = {"libssh2", "it can do all that is asked for", "farm@10.0.0.1:22", Way::Step::kNone};
  facts.login.end = Outcome::End::kExited;
  facts.login.status = 0;
  facts.round_trip = 4ms;
  return facts;
}

run::SshFacts failed(Way::Step step) {
  run::SshFacts facts = fine();
  facts.way.failed = step;
  facts.login.end = Outcome::End::kRefused;
  facts.login.why = "what is wrong; what to do";
  facts.round_trip.reset();
  return facts;
}

Cell cell(const run::SshFacts& facts, const std::string& topic) {
  const std::vector<Cell> cells = run::judge_ssh(facts);
  const auto found =
      std::ranges::find_if(cells, [&](const Cell& one) { return one.topic == topic; });
  return found == cells.end() ? Cell{} : *found;
}

bool ready(const run::SshFacts& facts) { return run::is_ready({"mini1", run::judge_ssh(facts)}); }

TEST(DoctorSsh, SaysWhichWayAndWhy) {
  EXPECT_EQ(cell(fine(), "address").text, "farm@10.0.0.1:22");
  EXPECT_EQ(cell(fine(), "transport").text, "libssh2: it can do all that is asked for");
  EXPECT_EQ(cell(fine(), "login").text, "ok");
  EXPECT_TRUE(ready(fine()));
}

TEST(DoctorSsh, TellsAPinnedKeyFromAKnownOne) {
  run::SshFacts facts = fine();
  EXPECT_EQ(cell(facts, "host key").text, "known");
  facts.pinned = true;
  EXPECT_EQ(cell(facts, "host key").text, "pinned");
}

TEST(DoctorSsh, WarnsOfSlowStartFilesAndIsReadyAllTheSame) {
  run::SshFacts facts = fine();
  facts.round_trip = 155ms;
  EXPECT_EQ(cell(facts, "true").health, Health::kWarning);
  EXPECT_NE(cell(facts, "true").mend.find(".bashrc"), std::string::npos);
  EXPECT_TRUE(ready(facts));
  facts.round_trip = 50ms;
  EXPECT_EQ(cell(facts, "true").health, Health::kFine);
}

TEST(DoctorSsh, AFailedStepBringsTheMendAndTheLaterOnesAreUnknown) {
  const run::SshFacts facts = failed(Way::Step::kHostKey);
  EXPECT_EQ(cell(facts, "transport").health, Health::kFine);
  EXPECT_EQ(cell(facts, "host key").health, Health::kFailed);
  EXPECT_EQ(cell(facts, "host key").mend, "what is wrong; what to do");
  EXPECT_EQ(cell(facts, "login").health, Health::kUnknown);
  EXPECT_EQ(cell(facts, "true").health, Health::kUnknown);
  EXPECT_FALSE(ready(facts));
}

TEST(DoctorSsh, EachStepFailsInItsOwnColumn) {
  EXPECT_EQ(cell(failed(Way::Step::kReach), "transport").health, Health::kFailed);
  EXPECT_EQ(cell(failed(Way::Step::kConfig), "transport").health, Health::kFailed);
  EXPECT_EQ(cell(failed(Way::Step::kKey), "login").health, Health::kFailed);
  EXPECT_EQ(cell(failed(Way::Step::kShell), "login").health, Health::kFailed);
  EXPECT_EQ(cell(failed(Way::Step::kNone), "login").health, Health::kFailed);
}

TEST(DoctorSsh, HasTheSameColumnsWhateverHappened) {
  const auto topics = [](const run::SshFacts& facts) {
    std::string all;
    for (const Cell& one : run::judge_ssh(facts)) all += one.topic + " ";
    return all;
  };
  EXPECT_EQ(topics(fine()), topics(failed(Way::Step::kReach)));
}

TEST(DoctorSsh, GathersFromANode) {
  Loop loop;
  const auto fake = std::make_shared<node::FakeNode>(loop.executor(), "mini1");
  fake->reply("true", {0, "", ""});
  scenario::LabNode stated;
  stated.name = "mini1";
  stated.host_key = "SHA256:x";
  run::SshFacts facts = loop.await(run::ssh_facts(fake, stated));
  EXPECT_TRUE(facts.login.ok() && facts.pinned && facts.round_trip.has_value());
  EXPECT_EQ(facts.way.transport, "fake");
  fake->close();
  const auto broken = std::make_shared<node::FakeNode>(loop.executor(), "mini1");
  broken->reply("true", {127, "", "no true here\n"});
  facts = loop.await(run::ssh_facts(broken, stated));
  EXPECT_EQ(cell(facts, "true").health, Health::kFailed);
  EXPECT_EQ(cell(facts, "true").mend, "no true here (exited 127)");
  broken->close();
}

}  // namespace
}  // namespace unplug::test
