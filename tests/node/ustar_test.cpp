#include "node/ustar.hpp"

#include <gtest/gtest.h>

namespace unplug::node {
namespace {

TEST(Ustar, PadsToBlocksAndEndsWithTwoEmptyOnes) {
  EXPECT_EQ(ustar({}).size(), 1024u);
  EXPECT_EQ(ustar({{"a", ""}}).size(), 512u + 1024u);
  EXPECT_EQ(ustar({{"a", std::string(512, 'x')}, {"b", "y"}}).size(), 1024u + 1024u + 1024u);
}

TEST(Ustar, ChecksumsItsHeader) {
  const std::string stream = ustar({{"sh/verb.sh", "x", 0755}});
  unsigned sum = 0;
  for (int i = 0; i < 512; ++i) {
    sum += i >= 148 && i < 156 ? ' ' : static_cast<unsigned char>(stream[i]);
  }
  EXPECT_EQ(std::stoul(stream.substr(148, 6), nullptr, 8), sum);
  EXPECT_EQ(stream.substr(257, 5), "ustar");
  EXPECT_EQ(stream.substr(100, 7), "0000755");
}

TEST(Ustar, SplitsLongPathsAndRefusesWhatDoesNotFit) {
  const std::string folder(90, 'd'), file(90, 'f');
  EXPECT_FALSE(unfit_for_ustar({{folder + "/" + file, ""}}));
  EXPECT_EQ(ustar({{folder + "/" + file, ""}}).substr(345, 90), folder);
  EXPECT_TRUE(unfit_for_ustar({{std::string(101, 'x'), ""}}));
  for (const char* path : {"/etc/passwd", "../x", "a/../../x", ""}) {
    EXPECT_TRUE(unfit_for_ustar({{path, ""}})) << path;
  }
}

}  // namespace
}  // namespace unplug::node
