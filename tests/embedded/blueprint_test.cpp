#include "embedded/blueprint.hpp"

#include <gtest/gtest.h>

#include <set>

#include "base/error.hpp"
#include "embedded/lab.hpp"

namespace unplug::embedded {
namespace {

TEST(Blueprint, TwoNodesShareOneLinkWithTheSameInterfaceAtBothEnds) {
  const Blueprint lab = blueprint(2, "3s");
  EXPECT_EQ(lab.lab, "two-node");
  ASSERT_EQ(lab.wires.size(), 1U);
  EXPECT_EQ(lab.wires[0].name, "tb");
  EXPECT_EQ(lab.wires[0].near.interface, "tb0");
  EXPECT_EQ(lab.wires[0].far.interface, "tb0");
  EXPECT_EQ(lab.wires[0].near.address, "10.78.0.1/30");
  EXPECT_EQ(lab.wires[0].far.address, "10.78.0.2/30");
}

TEST(Blueprint, EveryFurtherNodeReachesTheFirstOverALinkOfItsOwn) {
  const Blueprint lab = blueprint(5, "3s");
  EXPECT_EQ(lab.lab, "five-node");
  ASSERT_EQ(lab.wires.size(), 4U);
  for (std::size_t i = 0; i < lab.wires.size(); ++i) {
    EXPECT_EQ(lab.wires[i].near.site, 0U);
    EXPECT_EQ(lab.wires[i].far.site, i + 1);
  }
}

TEST(Blueprint, NoAddressIsUsedTwiceAndNoInterfaceTwiceOnANode) {
  const Blueprint lab = blueprint(50, "3s");
  std::set<std::string> addresses = {lab.controller}, interfaces;
  std::size_t count = 1, ends = 0;
  for (const Site& site : lab.sites) {
    addresses.insert(site.address);
    ++count;
  }
  for (const Wire& wire : lab.wires) {
    for (const WireEnd* end : {&wire.near, &wire.far}) {
      addresses.insert(end->address);
      interfaces.insert(std::to_string(end->site) + end->interface);
      ++count;
      ++ends;
    }
  }
  EXPECT_EQ(addresses.size(), count);
  EXPECT_EQ(interfaces.size(), ends);
}

TEST(Blueprint, OneNodeHasNoLinks) { EXPECT_TRUE(blueprint(1, "3s").wires.empty()); }

TEST(NodesOf, ReadsWordsAndNumbersAndRefusesTheRest) {
  EXPECT_EQ(nodes_of("two-node"), 2);
  EXPECT_EQ(nodes_of("nine-node"), 9);
  EXPECT_EQ(nodes_of("12-node"), 12);
  for (const char* name :
       {"", "-node", "0-node", "51-node", "two", "twonode", "2 -node", "zero-node"}) {
    EXPECT_THROW(nodes_of(name), Error) << name;
  }
}

TEST(NodesOf, ReadsTheNameThatABlueprintGives) {
  for (int nodes : {1, 2, 3, 9}) EXPECT_EQ(nodes_of(blueprint(nodes, "3s").lab), nodes);
}

}  // namespace
}  // namespace unplug::embedded
