// Each small mistake gets one message, at its place, that says what would be right.
// A false pass would be a file that fails for another reason than its mistake: hence the whole
// text is compared, and nothing else may be said.
#include "scenario/wrong_files.hpp"

#include <gtest/gtest.h>

#include "scenario/files.hpp"

namespace unplug::scenario {
namespace {

using test::EditedFiles;
using test::WrongFile;

class WrongFiles : public testing::TestWithParam<WrongFile> {};

TEST_P(WrongFiles, GetOneMessageThatSaysWhatWouldBeRight) {
  const WrongFile& wrong = GetParam();
  const EditedFiles files(wrong.file, wrong.from, wrong.to);
  EXPECT_EQ(files.problems(), test::problem_of(wrong))
      << "with " << wrong.to << " instead of " << wrong.from;
}

INSTANTIATE_TEST_SUITE_P(All, WrongFiles, testing::ValuesIn(test::wrong_files()));

TEST(WrongFile, SaysAllOfItsProblemsInTheOrderOfItsLines) {
  const EditedFiles files("scenario.json", R"("near": "worker 2",)",
                          R"("near": "worker 7", "x": 1,)");
  files.edit("scenario.json", R"("seed": 1)", R"("seed": "one")");
  files.edit("scenario.json", R"("run": "60s")", R"("run": "60")");
  EXPECT_EQ(
      files.problems(),
      "scenario.json:8:101: there is no worker 7; place \"worker\" has 2\n"
      "scenario.json:8:113: injector \"link_drop\" has no parameter \"x\"; it takes \"link\" and "
      "\"near\"\n"
      "scenario.json:17:22: \"run\" is the text \"60\", which is no time with a unit; write "
      "\"60s\" "
      "(units: ns, us, ms, s, m, h, d)\n"
      "scenario.json:18:11: \"seed\" is the text \"one\"; write a whole number from 0 to "
      "18446744073709551615\n");
}

TEST(WrongFile, IsAProblemWhenItCannotBeOpened) {
  const Loaded loaded = load("nowhere/scenario.json", std::nullopt, test::good_library());
  EXPECT_EQ(test::texts(loaded.problems),
            "nowhere/scenario.json:1:1: there is no such file; check the path\n");
  EXPECT_FALSE(loaded.bundle.has_value());
}

TEST(WrongFile, OfNoKnownKindIsToldSo) {
  const EditedFiles files("lab.json", "\"lab\":", "\"lap\":");
  EXPECT_EQ(files.relative(validate_file(files.path("lab.json"), files.library(), std::nullopt)),
            "lab.json:1:1: this is no scenario, lab, target or injector; "
            "begin it with \"scenario\", \"lab\", \"target\" or \"injector\"\n");
}

}  // namespace
}  // namespace unplug::scenario
