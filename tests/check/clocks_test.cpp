// Node time as an interval of the controller's time, and what was looked at.
#include "check/clocks.hpp"

#include "check/coverage.hpp"
#include "journal_builder.hpp"

namespace unplug::check {
namespace {

journal::Event round_trip(double t0, double nt, double t1, const std::string& boot = "b") {
  journal::Event event;
  event.kind = "clock";
  event.node = "node1";
  event.node_time = journal::NodeTime{boot, ns(nt)};
  event.data = {{"t0", ns(t0)}, {"nt", ns(nt)}, {"t1", ns(t1)}};
  return event;
}

journal::Event observer(const std::string& edge, double from, double to) {
  journal::Event event = round_trip(0, from, 0);
  event.kind = "observer";
  event.data = {{"id", "all"}, {"edge", edge}, {"from", ns(from)}, {"to", ns(to)}};
  return event;
}

TEST(Clocks, BoundAMomentByTheRoundTripTheStepAndTheDrift) {
  Clocks clocks;
  clocks.add(round_trip(5.0, 105.0, 5.2));
  const Span span = *clocks.at("node1", {"b", ns(115)});
  EXPECT_EQ(span.lo, ns(15.0) - ns(0.010) - ns(0.005));  // 10 ms step, 500 ppm of 10 s
  EXPECT_EQ(span.hi, ns(15.2) + ns(0.010) + ns(0.005));
}

TEST(Clocks, BoundItBestByAllRoundTripsTogether) {
  Clocks clocks;
  clocks.add(round_trip(5.0, 105.0, 6.0));
  clocks.add(round_trip(14.9, 115.0, 15.1));
  const Span span = *clocks.at("node1", {"b", ns(115)});
  EXPECT_GE(span.lo, ns(14.9 - 0.02));
  EXPECT_LE(span.hi, ns(15.1 + 0.02));
}

TEST(Clocks, WidenWhenRoundTripsContradictEachOther) {
  Clocks clocks;
  clocks.add(round_trip(5.0, 105.0, 5.1));
  clocks.add(round_trip(8.0, 105.0, 8.1));
  const Span span = *clocks.at("node1", {"b", ns(105)});
  EXPECT_LE(span.lo, ns(5.0));
  EXPECT_GE(span.hi, ns(8.1));
}

TEST(Clocks, KnowNothingOfAnotherBootOrNode) {
  Clocks clocks;
  clocks.add(round_trip(5.0, 105.0, 5.1));
  EXPECT_FALSE(clocks.at("node1", {"after reboot", ns(105)}));
  EXPECT_FALSE(clocks.at("node2", {"b", ns(105)}));
}

TEST(Coverage, EndsAtGapsAndAtBothEnds) {
  Clocks clocks;
  clocks.add(round_trip(0, 0, 0.001));
  Coverage coverage;
  coverage.add(observer("begin", 2, 2), clocks);
  coverage.add(observer("gap", 10, 14), clocks);
  EXPECT_FALSE(coverage.ended("node1"));
  coverage.add(observer("end", 30, 30), clocks);
  EXPECT_TRUE(coverage.ended("node1"));
  EXPECT_TRUE(coverage.covers("node1", "log", {ns(3), ns(9)}));
  EXPECT_TRUE(coverage.covers("node1", "log", {ns(15), ns(29)}));
  EXPECT_FALSE(coverage.covers("node1", "log", {ns(3), ns(15)}));
  EXPECT_FALSE(coverage.covers("node1", "log", {ns(1), ns(9)}));
  EXPECT_FALSE(coverage.covers("node1", "log", {ns(20), ns(31)}));
  EXPECT_FALSE(coverage.covers("node2", "log", {ns(3), ns(9)}));
}

TEST(Coverage, WithoutAnEndReachesToTheLastThingHeard) {
  Clocks clocks;
  clocks.add(round_trip(0, 0, 0.001));
  Coverage coverage;
  coverage.add(observer("begin", 2, 2), clocks);
  EXPECT_FALSE(coverage.covers("node1", "log", {ns(3), ns(9)}));
  coverage.heard("node1", {ns(10), ns(10)});
  EXPECT_TRUE(coverage.covers("node1", "log", {ns(3), ns(9)}));
}

}  // namespace
}  // namespace unplug::check
