#include "embedded/visible.hpp"

#include <gtest/gtest.h>

namespace unplug::embedded {
namespace {

using Paths = std::set<std::string>;

TEST(Mentioned, FindsEntriesWhereverATextNamesThem) {
  EXPECT_EQ(mentioned("cat '/tmp/a/b' --out=/tmp/c.d:/tmp/e-f", "/tmp"),
            (Paths{"/tmp/a", "/tmp/c.d", "/tmp/e-f"}));
}

TEST(Mentioned, NeverNamesTheFolderItselfOrItsParent) {
  EXPECT_EQ(mentioned("/tmp /tmp/ /tmp/. /tmp/../etc", "/tmp"), Paths{});
}

TEST(Outermost, LeavesOutWhatLiesBelowAnother) {
  EXPECT_EQ(outermost({"/tmp/a", "/tmp/a/b", "/tmp/ab"}),
            (std::vector<std::string>{"/tmp/a", "/tmp/ab"}));
}

TEST(IsBelow, IsAboutFoldersAndNotAboutLetters) {
  EXPECT_TRUE(is_below("/tmp/a", "/tmp"));
  EXPECT_TRUE(is_below("/tmp", "/tmp"));
  EXPECT_FALSE(is_below("/tmpfs", "/tmp"));
}

}  // namespace
}  // namespace unplug::embedded
