// What a kept baseline depends on.
#include "run/baseline.hpp"

#include <gtest/gtest.h>

#include "run/fake_farm.hpp"
#include "run/node_facts.hpp"

namespace unplug::run {
namespace {

TEST(BaselineKey, IsTheSameForTheSame) {
  FakeFarm one, other;
  EXPECT_EQ(baseline_key(one.stage), baseline_key(other.stage));
}

// Each node by itself: the controller's kernel and cores say nothing about it.
TEST(BaselineKey, DependsOnWhatEachNodeSaysOfItself) {
  FakeFarm farm;
  std::string cores = "8";
  farm.answer("uname -s", [&cores](node::FakeRun& run) {
    run.out("Linux\n6.1.0\nhost\nx86_64\n" + cores + "\n");
    run.exit(0);
  });
  farm.await(read_facts(farm.stage));
  EXPECT_EQ(farm.context.machines.at("node1"), "Linux 6.1.0 x86_64 8");
  const std::string before = baseline_key(farm.stage);
  farm.await(read_facts(farm.stage));
  EXPECT_EQ(baseline_key(farm.stage), before);
  cores = "4";
  farm.await(read_facts(farm.stage));
  EXPECT_NE(baseline_key(farm.stage), before);
}

TEST(BaselineKey, DependsOnTheVersionsFound) {
  FakeFarm farm;
  const std::string before = baseline_key(farm.stage);
  farm.context.versions = {"ffmpeg on node1 = 5.1"};
  EXPECT_NE(baseline_key(farm.stage), before);
}

}  // namespace
}  // namespace unplug::run
