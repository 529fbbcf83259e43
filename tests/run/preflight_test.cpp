// What people are told when a run may not begin.
#include "run/preflight.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "run/fake_lab.hpp"
#include "run/remote.hpp"

namespace unplug::run {
namespace {

using Problems = std::vector<std::string>;

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(Preflight, NamesEveryNodeThatCannotBeReached) {
  FakeLab lab(farm({}));
  lab.node("node1").refuse_connection("the host key is another");
  lab.node("node2").refuse_connection("no route to host");
  EXPECT_EQ(lab.await(reach(lab.context)),
            (Problems{"node1: the host key is another", "node2: no route to host"}));
}

// A probe that does not answer: a signal is not kept waiting for it.
TEST(Preflight, DoesNotWaitForAProbeOnceItIsInterrupted) {
  FakeLab lab({fault("freeze", "process_freeze", "worker 2", scenario::At{}, 30ms)});
  bool asked = false;
  lab.answer("process_freeze probe", [&asked](node::FakeRun&) { asked = true; });
  const auto over = lab.spawn(
      [](Stage& stage) -> asio::awaitable<void> { (void)co_await probe(stage); }(lab.stage));
  ASSERT_TRUE(lab.run_until([&] { return asked; }));
  EXPECT_FALSE(*over);
  lab.context.stop = Stop::kInterrupted;
  lab.context.bell.ring();
  ASSERT_TRUE(lab.run_until([&] { return *over; })) << "run_until gives up long before the probe";
}

// What `unless_stopped` gave up may end later, when nobody listens any more.
TEST(Preflight, OutlivesALookThatItGaveUp) {
  FakeLab lab(farm({}));
  node::FakeRun* open = nullptr;
  lab.answer("look", [&open](node::FakeRun& run) { open = &run; });
  const auto node = lab.context.nodes.at("node1");
  const auto look = [node] { return node->exec(node::Command("look"), within(10s)); };
  node::Outcome outcome;
  const auto over =
      lab.spawn([](Context& context, std::function<asio::awaitable<node::Outcome>()> work,
                   node::Outcome& into) -> asio::awaitable<void> {
        into = co_await unless_stopped(context, std::move(work));
      }(lab.context, look, outcome));
  ASSERT_TRUE(lab.run_until([&] { return open != nullptr; }));
  lab.context.stop = Stop::kInterrupted;
  lab.context.why_stopped = "signal 2";
  lab.context.bell.ring();
  ASSERT_TRUE(lab.run_until([&] { return *over; }));
  EXPECT_EQ(outcome.text(), "lost: signal 2");
  open->exit(0);
}

TEST(Preflight, AcceptsTheMarkerOfThisLabOnly) {
  FakeLab lab(farm({}));
  lab.reply(".config/unplug/lab", {0, "two-node\n", ""});
  EXPECT_EQ(lab.await(check_markers(lab.context)), Problems{});
  lab.reply(".config/unplug/lab", {0, "production\n", ""});
  const Problems other = lab.await(check_markers(lab.context));
  ASSERT_EQ(other.size(), 2u);
  EXPECT_TRUE(has(other[0], "node1: it has not opted in to lab \"two-node\"")) << other[0];
  EXPECT_TRUE(has(other[0], "its marker says \"production\"")) << other[0];
  EXPECT_TRUE(has(other[0], "echo two-node > ~/.config/unplug/lab")) << other[0];
}

TEST(Preflight, SaysHowToOptInWhereThereIsNoMarker) {
  FakeLab lab(farm({}));
  const Problems none = lab.await(check_markers(lab.context));
  ASSERT_EQ(none.size(), 2u);
  EXPECT_TRUE(has(none[1], "node2: ")) << none[1];
  EXPECT_TRUE(has(none[1], "no marker")) << none[1];
}

TEST(Preflight, DoesNotTakeALostNodeForOneThatHasNotOptedIn) {
  FakeLab lab(farm({}));
  lab.reply(".config/unplug/lab", {0, "two-node\n", ""});
  lab.node("node2").lose("cable");
  const Problems problems = lab.await(check_markers(lab.context));
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_TRUE(has(problems[0], "node2: refused: no session: cable")) << problems[0];
}

TEST(Preflight, RefusesAFaultThatOutlivesARebootWhereNothingWouldUndoIt) {
  scenario::Bundle bundle = farm({fault("hang", "process_freeze", "worker 2", scenario::At{}, 3s)});
  bundle.injectors.at("process_freeze").survives_reboot = true;
  FakeLab lab(bundle);
  Problems problems = lab.await(probe(lab.stage));
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_TRUE(has(problems[0], "node2: process_freeze outlives a reboot")) << problems[0];
  EXPECT_TRUE(has(problems[0], "allow_without_boot_sweep")) << problems[0];
  lab.reply("boot-sweep", {0, "installed\n", ""});
  EXPECT_EQ(lab.await(probe(lab.stage)), Problems{});
}

TEST(Preflight, LetsALabAllowFaultsThatOutliveAReboot) {
  scenario::Bundle bundle = farm({fault("hang", "process_freeze", "worker 2", scenario::At{}, 3s)});
  bundle.injectors.at("process_freeze").survives_reboot = true;
  bundle.lab.allow_without_boot_sweep = true;
  FakeLab lab(bundle);
  EXPECT_EQ(lab.await(probe(lab.stage)), Problems{});
}

TEST(Preflight, TellsWhatAProbeMisses) {
  FakeLab lab({fault("freeze", "process_freeze", "worker 2", scenario::At{}, 30ms)});
  lab.reply("sh sh/verb.sh process_freeze probe", {4, "", "not allowed to signal it\n"});
  EXPECT_EQ(lab.await(probe(lab.stage)),
            (Problems{"node2: process_freeze lacks a privilege: not allowed to signal it "
                      "(exited 4)"}));
  lab.reply("sh sh/verb.sh process_freeze probe", {3, "", "no /proc\n"});
  EXPECT_TRUE(has(lab.await(probe(lab.stage)).at(0), "is unsupported here: no /proc"));
}

TEST(Preflight, RefusesWhatAnEarlierRunLeftThatCannotBeUndone) {
  FakeLab lab(farm({}));
  lab.bundle.lab_file = "lab.json";
  lab.reply("for d in ~/.unplug", {0, "run0\n", ""});
  lab.reply("sh -s -- undo", {0, "{\"heal\":\"done\",\"left\":1}\n", ""});
  const Problems problems = lab.await(clear_leftovers(lab.stage));
  ASSERT_EQ(problems.size(), 2u);
  EXPECT_TRUE(has(problems[0], "unplug heal --lab lab.json")) << problems[0];
  EXPECT_EQ(lab.at("node1 sh -s -- remove run0"), -1);
}

}  // namespace
}  // namespace unplug::run
