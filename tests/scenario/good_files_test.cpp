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
  EXPECT_EQ(node.ssh_config, (kGood / "ssh_config").string());
  EXPECT_EQ(node.ssh_by, SshBy::kLibssh2);
  EXPECT_EQ(node.port, 22);
  EXPECT_EQ(loaded.lab->nodes.at(2).ssh_by, SshBy::kProgram);
  EXPECT_EQ(loaded.lab->nodes.at(2).port, std::nullopt) << "as OpenSSH is configured";
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

TEST(GoodFiles, EveryTriggerAndParameterReads) {
  const Loaded loaded = load(kGood / "many.json", kGood / "lab.json", good_library());
  ASSERT_EQ(texts(loaded.problems), "");
  const auto& faults = loaded.bundle->scenario.faults;
  EXPECT_TRUE(std::holds_alternative<BeforeStart>(faults.at(0).trigger));
  EXPECT_EQ(faults.at(0).params.at("free").text, "1MiB");  // its default
  const auto& when = std::get<When>(faults.at(1).trigger);
  EXPECT_EQ(when.numbers.at("n"), 20);
  EXPECT_EQ(when.nth, 2);
  EXPECT_EQ(when.plus, std::chrono::milliseconds{300});
  EXPECT_EQ(faults.at(1).tolerance_steps, 2);
  EXPECT_EQ(faults.at(1).hold, std::nullopt);
  EXPECT_EQ(faults.at(2).params.at("sparse").text, "yes");
  EXPECT_EQ(faults.at(2).params.at("every").text, "50ms");
  EXPECT_EQ(faults.at(2).params.at("model").text, "look");
  EXPECT_EQ(std::get<Between>(faults.at(2).trigger).latest, std::chrono::seconds{5});
  EXPECT_EQ(std::get<After>(faults.at(3).trigger).plus, std::chrono::seconds{1});
  EXPECT_EQ(faults.at(3).params.at("link").text, "tb");
  EXPECT_EQ(std::get<With>(faults.at(4).trigger).fault, "drop");
  EXPECT_TRUE(std::holds_alternative<DuringRecover>(faults.at(5).trigger));
  EXPECT_EQ(std::get<At>(faults.at(6).trigger).time, std::chrono::seconds{30});
}

TEST(GoodFiles, FaultsOnOneThingMayFollowEachOther) {
  const test::EditedFiles apart("many.json", R"("process": "any worker", "at": "30s" })",
                                R"("process": "any worker", "at": "30s" },
         { "id": "first", "inject": "link_drop", "link": "tb", "near": "node 2", "at": "1s", "for": "3s" },
         { "id": "last", "inject": "link_drop", "link": "tb", "near": "node 1", "after": "drop", "for": "3s" })");
  // "drop" comes after "fill", which begins at 2 s and is held for 4 s: never before 7 s.
  EXPECT_EQ(apart.problems(), "");
}

TEST(GoodFiles, SelectorsReadAsTheyAreWritten) {
  for (const char* text : {"worker 2", "all worker", "any worker", "node 1"}) {
    EXPECT_EQ(to_text(parse_selector(text).value()), text);
  }
  for (const char* text : {"", "worker", "worker2", "worker 0", "worker -1", "worker 1x", " 1",
                           "all", "worker  2", "worker 2 3"}) {
    EXPECT_FALSE(parse_selector(text).has_value()) << text;
  }
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
