// A run's folder, read back: the models, the journal, the baseline and what heal brought.
#include "check/run_folder.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <fstream>

#include "base/error.hpp"
#include "check/healed.hpp"
#include "journal_builder.hpp"

namespace unplug::check {
namespace {

namespace fs = std::filesystem;

struct RunFolder : testing::Test {
  RunFolder() {
    std::string name = (fs::temp_directory_path() / "unplug-run-XXXXXX").string();
    folder = mkdtemp(name.data());
    const fs::path good = fs::path(UNPLUG_TEST_ROOT) / "tests/scenario/good";
    fs::copy_file(good / "scenario.json", folder / "scenario.json");
    fs::copy_file(good / "lab.json", folder / "lab.json");
    fs::copy_file(good / "targets/farm/target.json", folder / "target.json");
    fs::create_directories(folder / "injectors");
    for (const auto& injector : fs::directory_iterator(good / "injectors")) {
      if (!injector.is_directory()) continue;
      fs::copy_file(injector.path() / "injector.json",
                    folder / "injectors" / (injector.path().filename().string() + ".json"));
    }
  }
  ~RunFolder() override { fs::remove_all(folder); }

  void write(const fs::path& file, const Story& story) const {
    fs::create_directories(file.parent_path());
    std::ofstream out(file);
    for (const journal::Event& event : story.memory.events) out << journal::to_line(event) << "\n";
  }
  void write(const fs::path& file, const std::string& text) const {
    fs::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  static Story broken_off() {
    Story story;
    story.plan("drop");
    story.fault(20, "drop", "fired");
    return story;
  }
  fs::path folder;
};

TEST_F(RunFolder, IsJudgedWithoutTheLabAndWithoutScripts) {
  write(folder / "journal.jsonl", broken_off());
  const Judged judged = judge_folder(folder);
  EXPECT_FALSE(judged.scenario.name.empty());
  EXPECT_EQ(judged.result.findings.size(), judged.scenario.expect.size());
  EXPECT_EQ(judged.result.verdict, Verdict::kUnhealed);
  EXPECT_FALSE(judged.journal.events.empty());
}

TEST_F(RunFolder, TakesWhatHealBroughtIntoAccount) {
  write(folder / "journal.jsonl", broken_off());
  write(folder / "healed/node2.drop.jsonl",
        "{\"guard\":\"fired\",\"nt\":1}\n{\"guard\":\"reverting\",\"nt\":2,\"why\":\"lease\"}\n"
        "{\"guard\":\"reverted\",\"nt\":3}\n{\"guard\":\"rev");
  const Result result = judge_folder(folder).result;
  EXPECT_NE(result.verdict, Verdict::kUnhealed) << result.why;
  EXPECT_NE(result.why.find("broken off"), std::string::npos) << result.why;
}

// A guard names its boot in two of its lines only; the journal's clocks place the others too.
TEST_F(RunFolder, PlacesWhatHealBroughtByTheNodesClock) {
  Story story;
  story.plan("drop");
  story.fault(20, "drop", "fired");
  story.proof(21, "drop", "yes");
  write(folder / "journal.jsonl", story);
  const auto line = [](const char* guard, double at, const char* more) {
    return fmt::format("{{\"guard\":\"{}\",\"nt\":{}{}}}\n", guard, ns(at + Story::kSkew), more);
  };
  const auto undone = [&](const std::string& boot) {
    const std::string named = ",\"boot\":\"" + boot + "\"";
    write(folder / "healed/node2.drop.jsonl",
          line("reverting", 24, named.c_str()) + line("reverted", 25, ""));
    return judge_folder(folder).result.faults.at(0);
  };
  EXPECT_EQ(undone("boot").undone, "reverted 15 s after start");
  EXPECT_EQ(undone("another").undone, "reverted at a time that is not known");
  // A proof is not taken for one that came after the undo.
  EXPECT_EQ(undone("another").text.find("never looked at"), std::string::npos);
}

TEST_F(RunFolder, BelievesHealThatSomethingStays) {
  write(folder / "journal.jsonl", broken_off());
  write(folder / "healed/node2.heal.jsonl",
        R"({"heal":"fault","run":"r","fault":"drop","state":"stranded","why":"no sudo"})"
        "\n");
  const Result result = judge_folder(folder).result;
  EXPECT_EQ(result.verdict, Verdict::kUnhealed);
  EXPECT_NE(result.by_hand.at(0).find("no sudo"), std::string::npos) << result.by_hand.at(0);
}

TEST_F(RunFolder, IsToldFromOtherFolders) {
  EXPECT_THROW(judge_folder(folder), Error);  // no journal
  fs::remove(folder / "scenario.json");
  write(folder / "journal.jsonl", broken_off());
  EXPECT_THROW(judge_folder(folder), Error);
  EXPECT_THROW(judge_folder(folder / "nothing"), Error);
}

TEST(Healed, KnowsGuardLinesAndHealLines) {
  const auto state = [](const std::string& line, const std::string& fault) {
    std::string boot;
    const journal::Event event = healed_event(line, "n", fault, boot);
    return event.kind.empty() ? "" : event.data["state"].get<std::string>();
  };
  EXPECT_EQ(state(R"({"guard":"armed","gen":1,"nt":1,"boot":"b"})", "f"), "armed");
  EXPECT_EQ(state(R"({"guard":"not_fired","nt":1,"why":"gone"})", "f"), "no_effect");
  EXPECT_EQ(state(R"({"guard":"still_broken","nt":1,"why":"x"})", "f"), "reverting");
  EXPECT_EQ(state(R"({"guard":"renewed","nt":1,"until":5})", "f"), "");
  EXPECT_EQ(state(R"({"heal":"fault","fault":"f","state":"spent"})", ""), "spent");
  EXPECT_EQ(state(R"({"heal":"done","left":0})", ""), "");
  EXPECT_EQ(state("rubbish", "f"), "");
}

}  // namespace
}  // namespace unplug::check
