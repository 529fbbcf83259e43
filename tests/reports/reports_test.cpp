// The three reports: what a person, a CI server and a program read.
#include <gtest/gtest.h>

#include <algorithm>

#include "check/journal_builder.hpp"
#include "reports/report.hpp"
#include "reports/text.hpp"

namespace unplug::reports {
namespace {

using check::Judging;
using check::Story;

check::Judged judged_of(Story story, Judging judging) {
  judging.scenario.name = "worker-frozen";
  judging.scenario.asks = "Does the job go on when a worker freezes?";
  return {judging.judge(story), judging.scenario, story.journal()};
}

check::Judged failing() {
  Story story;
  story.items(12, "before", {{"shot-1", "queued"}, {"shot-2", "queued"}});
  story.frozen(20, 24);
  story.phase(25, "settle", "begin");
  story.phase(33, "settle", "end");
  story.items(39, "after", {{"shot-1", "done"}});
  story.close(40);
  return judged_of(story, Judging{}.expect("conservation").expect("output"));
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(Terminal, PutsTheVerdictFirst) {
  const std::string text = terminal(failing(), {});
  EXPECT_EQ(text.rfind("FAIL  worker-frozen: conservation does not hold\n", 0), 0u) << text;
}

TEST(Terminal, TellsFaultProofRecoveryFindingsAndWhatToDoNext) {
  const std::string text =
      terminal(failing(), {false, "runs/x", "unplug run worker-frozen --seed 1"});
  for (const char* part :
       {"freeze  process_freeze on worker of worker-2 at node2", "fired 10 s after start",
        "in effect for", "reverted 15 s after start", "settled in 8 s, no recover",
        "FAIL    conservation  1 lost (of 2 items)", "shot-2 in no state: lost at the end",
        "?       output  there is no baseline", "left in runs/x",
        "again   unplug run worker-frozen --seed 1"}) {
    EXPECT_TRUE(has(text, part)) << part << "\n" << text;
  }
  EXPECT_LT(std::count(text.begin(), text.end(), '\n'), 40);
}

TEST(Terminal, StaysUnderFortyLinesHoweverMuchWentWrong) {
  Story story;
  Story::Items before;
  for (int i = 0; i < 300; ++i) before.push_back({"shot-" + std::to_string(i), "queued"});
  story.items(12, "before", before);
  Judging judging;
  for (int i = 0; i < 30; ++i) {
    judging.expect("conservation");
    story.frozen(20, 24, "freeze" + std::to_string(i));
  }
  story.items(39, "after", {});
  story.close(40);
  const std::string text = terminal(judged_of(story, judging), {});
  EXPECT_LT(std::count(text.begin(), text.end(), '\n'), 40) << text;
}

TEST(Terminal, HasColourOnlyWhenAsked) {
  EXPECT_FALSE(has(terminal(failing(), {}), "\x1b"));
  EXPECT_TRUE(has(terminal(failing(), {true, "", ""}), "\x1b[1;31mFAIL"));
}

TEST(Terminal, LetsNothingRawFromANodeThrough) {
  Story story;
  story.items(12, "before", {{"shot\x1b[2J\a\r\n-1", "queued"}});
  story.frozen(20, 24);
  story.items(39, "after", {});
  story.close(40);
  const std::string text = terminal(judged_of(story, Judging{}.expect("conservation")), {});
  EXPECT_FALSE(has(text, "\x1b"));
  EXPECT_FALSE(has(text, "\a"));
  EXPECT_TRUE(has(text, "shot\\x1b[2J\\x07\\x0d\\n-1")) << text;
}

Story unhealed_story(bool lab_ends) {
  Story story;
  story.memory.events[0].data["embedded"] = true;
  story.memory.events[0].data["lab_ends"] = lab_ends;
  story.plan("freeze");
  story.fault(20, "freeze", "fired");
  story.fault(30, "freeze", "stranded", {{"why", "no answer"}, {"by_hand", "kill -CONT 42"}});
  story.close(40);
  return story;
}

TEST(Terminal, SaysHowToUndoByHandAndHowToHeal) {
  const check::Judged judged = judged_of(unhealed_story(false), Judging{}.expect("conservation"));
  const std::string text = terminal(judged, {false, "runs/x", ""});
  EXPECT_EQ(text.rfind("UNHEALED  ", 0), 0u);
  EXPECT_TRUE(has(text, "node2: freeze (process_freeze): no answer; kill -CONT 42")) << text;
  EXPECT_TRUE(has(text, "unplug heal --lab runs/x/lab.json --into runs/x")) << text;
}

TEST(Terminal, HasNothingToHealInALabThatIsGone) {
  const check::Judged judged = judged_of(unhealed_story(true), Judging{}.expect("conservation"));
  const std::string text = terminal(judged, {false, "runs/x", ""});
  EXPECT_FALSE(has(text, "unplug heal"));
  EXPECT_TRUE(has(text, "The lab was built in")) << text;
}

TEST(Junit, HasOneCaseForTheRunEachFaultAndEachFinding) {
  const std::string text = junit(failing());
  EXPECT_TRUE(has(text, R"(<testsuite name="worker-frozen" tests="4" failures="1" errors="1")"))
      << text;
  EXPECT_TRUE(has(text, R"(<testcase classname="worker-frozen.fault" name="freeze">)"));
  EXPECT_TRUE(has(text, R"x(<failure message="1 lost (of 2 items)">)x"));
  EXPECT_TRUE(has(text, R"(<error message="there is no baseline to compare with">)"));
}

TEST(Junit, EscapesWhatXmlCannotHold) {
  check::Judged judged = failing();
  judged.result.findings[0].text = "a<b>&\"c\x01\x1b\xff";
  const std::string text = junit(judged);
  EXPECT_TRUE(has(text, "a&lt;b&gt;&amp;&quot;c\\x01\\x1b\xEF\xBF\xBD")) << text;
  for (const char c : text) EXPECT_TRUE(c == '\n' || static_cast<unsigned char>(c) >= 0x20);
}

TEST(ResultJson, SaysVerdictFaultsAndFindings) {
  const auto json = result_json(failing());
  EXPECT_EQ(json["verdict"], "fail");
  EXPECT_EQ(json["exit"], 1);
  EXPECT_EQ(json["faults"][0]["confirmed"], true);
  EXPECT_EQ(json["findings"][0]["says"], "fail");
  EXPECT_EQ(json["findings"][0]["witnesses"][0]["text"], "shot-2 in no state: lost at the end");
  EXPECT_EQ(json["findings"][1]["says"], "cannot_tell");
}

TEST(Text, CutsLongTextAndHidesWhatCannotBeShown) {
  EXPECT_EQ(safe("abcdef", 3), "abc...");
  EXPECT_EQ(safe("a\tb\nc\x7f"), "a\\tb\\nc\\x7f");
  EXPECT_EQ(safe("Mu\xC3\xB1oz \xE2\x9C\x93"), "Mu\xC3\xB1oz \xE2\x9C\x93");
  EXPECT_EQ(safe("\xC2\x9B"
                 "31m"),
            "\xEF\xBF\xBD"
            "31m");  // C1: an escape sequence of its own
  EXPECT_EQ(safe("a\xE2\x80\xAE"
                 "b"),
            "a\xEF\xBF\xBD"
            "b");  // right-to-left override
  EXPECT_EQ(safe("\xC0\xAF\xED\xA0\x80"), "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_EQ(safe("\xE2\x9C"), "\xEF\xBF\xBD\xEF\xBF\xBD");
}

}  // namespace
}  // namespace unplug::reports
