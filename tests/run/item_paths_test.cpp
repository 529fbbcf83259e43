#include "run/item_paths.hpp"

#include <gtest/gtest.h>

namespace unplug::run {
namespace {

scenario::Items items() {
  scenario::Items items;
  items.folder = "share";
  items.states = {{"queued", "queue/*.job"}};
  items.outputs = {{"done", {{"done/$ITEM.mp4", "done/$ITEM.png"}, {"done/$ITEM.txt"}}}};
  items.partial = {"share:done/*.part", "work:*"};
  return items;
}

TEST(ItemPaths, KnowEachOfSeveralOutputs) {
  EXPECT_TRUE(is_output(items(), "done/shot-1.mp4"));
  EXPECT_TRUE(is_output(items(), "done/shot-1.png"));
  EXPECT_TRUE(is_output(items(), "done/shot-1.txt"));
  EXPECT_FALSE(is_output(items(), "done/shot-1.part"));
  EXPECT_FALSE(is_output(items(), "done/old/shot-1.mp4"));
}

TEST(ItemPaths, ListWhatAnObserverMustWatch) {
  const std::vector<std::string> all = {"queue/*.job", "done/*.mp4", "done/*.png", "done/*.txt",
                                        "done/*.part"};
  EXPECT_EQ(item_globs(items()), all);
}

}  // namespace
}  // namespace unplug::run
