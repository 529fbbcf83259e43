// How far apart were faults fired that should be fired together?
#include "check/skew.hpp"

#include <gtest/gtest.h>

namespace unplug::check {
namespace {

constexpr std::int64_t kMs = 1'000'000;

FaultRecord fired(const std::string& id, const std::string& instance, Span when) {
  FaultRecord fault;
  fault.id = id;
  fault.instance = instance;
  fault.fired = when;
  fault.confirmed = true;
  return fault;
}

scenario::Fault planned(const std::string& id, scenario::Trigger trigger = scenario::At{}) {
  scenario::Fault fault;
  fault.id = id;
  fault.trigger = std::move(trigger);
  return fault;
}

struct Skews : testing::Test {
  Skews() { scenario.faults = {planned("a"), planned("b", scenario::With{"a"}), planned("c")}; }
  scenario::Scenario scenario;
  std::vector<FaultRecord> faults{
      fired("a", "a.1", {0, 2 * kMs}), fired("a", "a.2", {5 * kMs, 6 * kMs}),
      fired("b", "b", {3 * kMs, 9 * kMs}), fired("c", "c", {900 * kMs, 901 * kMs})};
};

TEST_F(Skews, AreOfABarrierWithAllThatWaitForIt) {
  const auto skews = judge_skews(scenario, faults);
  ASSERT_EQ(skews.size(), 1u) << "one instance alone has none";
  EXPECT_EQ(skews[0].ids, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(skews[0].instances, 3u);
  EXPECT_EQ(skews[0].apart, (Span{3 * kMs, 9 * kMs}));
  for (const FaultRecord& fault : faults) EXPECT_TRUE(fault.confirmed);
}

TEST_F(Skews, MustBeShownToBeAsSmallAsAsked) {
  scenario.faults[1].skew = std::chrono::milliseconds{9};
  (void)judge_skews(scenario, faults);
  EXPECT_TRUE(faults[0].confirmed);
  scenario.faults[1].skew = std::chrono::milliseconds{8};  // perhaps, and perhaps not
  (void)judge_skews(scenario, faults);
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(faults[i].confirmed);
    EXPECT_EQ(faults[i].why,
              "fired between 3 ms and 9 ms apart from the others; a skew of 8 ms was asked");
  }
  EXPECT_TRUE(faults[3].confirmed);
}

TEST_F(Skews, KeepsTheReasonOfWhatWasNotConfirmedBefore) {
  scenario.faults[0].skew = std::chrono::milliseconds{1};
  faults[0].confirmed = false;
  faults[0].why = "no proof";
  (void)judge_skews(scenario, faults);
  EXPECT_EQ(faults[0].why, "no proof");
}

TEST_F(Skews, SaysNothingOfWhatNeverFired) {
  faults[1].fired.reset();
  faults[2].fired.reset();
  EXPECT_TRUE(judge_skews(scenario, faults).empty());
}

}  // namespace
}  // namespace unplug::check
