#include <gtest/gtest.h>

#include "scenario/files.hpp"
#include "scenario/load.hpp"

namespace unplug::scenario {
namespace {

using test::good_library;
using test::kGood;
using test::texts;

TEST(GoodFiles, ScenarioWithItsLabLoadsWhole) {
  const Loaded loaded = load(kGood / "scenario.json", kGood / "lab.json", good_library());
  ASSERT_EQ(texts(loaded.problems), "");
  const Bundle& bundle = *loaded.bundle;
  EXPECT_EQ(bundle.scenario.name, "link-dropped-at-publish");
  EXPECT_EQ(bundle.scenario.place.at("worker"), (std::vector{1, 2}));
  EXPECT_EQ(bundle.scenario.params.at("claim_lease"), "4s");
  EXPECT_EQ(bundle.scenario.params.at("stop_within"), "10s");
  EXPECT_EQ(bundle.scenario.run_limit, std::chrono::seconds{60});
  EXPECT_EQ(bundle.target_file, kGood / "targets/farm/target.json");
  EXPECT_EQ(bundle.injector_files.at("link_drop"), kGood / "injectors/link_drop/injector.json");
}

TEST(GoodFiles, FaultHasItsParametersTriggerAndHold) {
  const Loaded loaded = load(kGood / "scenario.json", kGood / "lab.json", good_library());
  ASSERT_EQ(texts(loaded.problems), "");
  const Fault& fault = loaded.bundle->scenario.faults.at(0);
  EXPECT_EQ(fault.params.at("link").between, (std::vector<std::string>{"server 1", "worker 2"}));
  EXPECT_EQ(fault.params.at("near").text, "worker 2");
  EXPECT_EQ(fault.hold, std::chrono::seconds{8});
  const auto& when = std::get<When>(fault.trigger);
  EXPECT_EQ(when.event, "publishing");
  EXPECT_EQ(when.from, (Selector{Selector::Pick::kOne, "worker", 2}));
}

TEST(GoodFiles, LabHasItsDefaultsAtEachNode) {
  const LoadedLab loaded = load_lab(kGood / "lab.json");
  ASSERT_EQ(texts(loaded.problems), "");
  const LabNode& node = loaded.lab->nodes.at(1);
  EXPECT_EQ(node.user, "render");
  EXPECT_EQ(node.identity.find('~'), std::string::npos);
  EXPECT_TRUE(node.identity.ends_with("/.ssh/id_ed25519"));
  EXPECT_EQ(node.root, Root::kSudo);
  EXPECT_EQ(loaded.lab->links.at(0).far.address, "10.78.0.2/30");
  EXPECT_EQ(loaded.lab->limits.disk_floor, 8U << 20U);
}

TEST(GoodFiles, TargetHasWhatItsFileSays) {
  std::vector<Problem> problems;
  const auto target = load_target(kGood / "targets/farm/target.json", problems);
  ASSERT_EQ(texts(problems), "");
  EXPECT_FALSE(target->place("worker")->most.has_value());
  EXPECT_EQ(target->part("renderer")->child_of, "worker");
  EXPECT_EQ(target->event("claimed")->work, Work::kBegin);
  EXPECT_EQ(target->event("frame")->progress, "n");
  EXPECT_EQ(target->items->fields.at("item"), 5);
  EXPECT_EQ(target->observers.at(1).every, std::chrono::milliseconds{200});
  EXPECT_EQ(target->models.at(0).manifest, "model.sha256");
}

TEST(GoodFiles, InjectorHasWhatItsFileSays) {
  std::vector<Problem> problems;
  const auto injector = load_injector(kGood / "injectors/link_drop/injector.json", problems);
  ASSERT_EQ(texts(problems), "");
  EXPECT_EQ(injector->param("near")->of, "link");
  EXPECT_TRUE(injector->roles.at(0).acts);
  EXPECT_EQ(injector->cuts, Cuts::kLink);
  EXPECT_EQ(injector->platforms.at(Platform::kDarwin).undo_settle, std::chrono::seconds{20});
  EXPECT_EQ(injector->platforms.at(Platform::kDarwin).says, "interface down, not cable loss");
}

TEST(GoodFiles, ScenarioLoadsWithoutALab) {
  const Loaded loaded = load(kGood / "scenario.json", std::nullopt, good_library());
  ASSERT_EQ(texts(loaded.problems), "");
  EXPECT_TRUE(loaded.bundle->lab.nodes.empty());
}

TEST(GoodFiles, EveryKindIsToldByItsKey) {
  for (const auto& file : test::files_under(kGood)) {
    EXPECT_EQ(texts(validate_file(file, good_library(), std::nullopt)), "") << file;
  }
}

// Whatever the tree ships must load; a scenario is held against no lab here.
TEST(GoodFiles, ShippedFilesLoad) {
  const Library library{test::kTree, {}, {}};
  for (const char* folder : {"injectors", "fixtures", "scenarios"}) {
    for (const auto& file : test::files_under(test::kTree / folder)) {
      EXPECT_EQ(texts(validate_file(file, library, std::nullopt)), "") << file;
    }
  }
}

}  // namespace
}  // namespace unplug::scenario
