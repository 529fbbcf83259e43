#include "scenario/document.hpp"

#include <gtest/gtest.h>

#include "scenario/files.hpp"

namespace unplug::scenario {
namespace {

std::string problems_of(const std::string& text) {
  std::vector<Problem> problems;
  parse_document("f", text, problems);
  return test::texts(problems);
}

Value parsed(const std::string& text) {
  std::vector<Problem> problems;
  auto value = parse_document("f", text, problems);
  EXPECT_EQ(test::texts(problems), "");
  return value.value_or(Value{});
}

TEST(Document, KnowsWhereEveryValueAndKeyStands) {
  const Value root =
      parsed("{ // a comment\n  \"a\": [1, -2.5e3, true, null],\n  \"b\\\"\": \"x\" }");
  const Value& list = root.members.at(0).value;
  EXPECT_EQ(root.position, (Position{1, 1}));
  EXPECT_EQ(root.members[0].position, (Position{2, 3}));
  EXPECT_EQ(list.position, (Position{2, 8}));
  EXPECT_EQ(list.items.at(0).position, (Position{2, 9}));
  EXPECT_EQ(list.items.at(1).position, (Position{2, 12}));
  EXPECT_EQ(list.items.at(1).text, "-2.5e3");
  EXPECT_EQ(list.items.at(2).position, (Position{2, 20}));
  EXPECT_EQ(list.items.at(3).position, (Position{2, 26}));
  EXPECT_EQ(root.members.at(1).key, "b\"");
  EXPECT_EQ(root.members.at(1).position, (Position{3, 3}));
  EXPECT_EQ(root.members.at(1).value.position, (Position{3, 10}));
}

TEST(Document, CountsCharactersNotBytes) {
  EXPECT_EQ(parsed("{ \"\xC3\xA4\xE2\x82\xAC\": 1 }").members.at(0).value.position,
            (Position{1, 9}));
}

struct Wrong {
  const char* text;
  const char* problem;
};

void PrintTo(const Wrong& wrong, std::ostream* out) { *out << wrong.text; }

class WrongTexts : public testing::TestWithParam<Wrong> {};

TEST_P(WrongTexts, GetOneClearProblem) {
  EXPECT_EQ(problems_of(GetParam().text), std::string(GetParam().problem) + "\n");
}

const Wrong kWrong[] = {
    {"", "f:1:1: the file is empty; write one object: {...}"},
    {" \n ", "f:1:1: the file is empty; write one object: {...}"},
    {"\xEF\xBB\xBF{}",
     "f:1:1: the file begins with a byte order mark; save it as UTF-8 without one"},
    {"\xFF\xFE{", "f:1:1: the file is UTF-16; save it as UTF-8"},
    {"{\n \"a\": \"\xC3(\" }", "f:2:8: this is not UTF-8; save the file as UTF-8"},
    {"{ \"a\": 1, }", "f:1:9: a comma stands before \"}\"; remove the comma"},
    {"{ \"a\": [1,\n ] }", "f:1:10: a comma stands before \"]\"; remove the comma"},
    {"{ \"a\": 1\n  \"b\": 2 }", "f:2:3: a comma is missing before this; write the comma"},
    {"{ \"a\": [1 2] }", "f:1:11: a comma is missing before this; write the comma"},
    {"{ \"a\" 1 }", "f:1:7: a colon is missing after the key; write \"key\": value"},
    {"{ \"a\": 1e999 }", "f:1:8: this number is too large; write a number below 1e308"},
    {"{ \"a\": 1,\n  \"a\": 2 }",
     "f:2:3: key \"a\" appears twice; keep one; the first is on line 1"},
    {"{ \"a\": [1, 2", "f:1:8: this \"[\" is never closed; write the missing \"]\""},
    {"{\n \"a\": 1\n", "f:1:1: this \"{\" is never closed; write the missing \"}\""},
    {"{ \"a\": [1 } }",
     "f:1:11: \"}\" does not close what is open; the \"[\" of line 1 is closed by \"]\""},
    {"{ \"a\": yes }",
     "f:1:8: the word yes stands without quotes; write \"yes\"; only true, false and null stand "
     "without"},
    {"{ a: 1 }",
     "f:1:3: the word a stands without quotes; write \"a\"; only true, false and null stand "
     "without"},
    {"{ 'a': 1 }", "f:1:3: text stands in double quotes; write \" instead of '"},
    {"{ \"a\": \"x\n\" }", "f:1:8: this text is not closed on its line; write the missing quote"},
    {"{ \"a\": \"x", "f:1:8: this text is not closed on its line; write the missing quote"},
    {"{ \"a\": \"\\q\" }", "f:1:10: this is no escape that JSON has; write \\\\ for a backslash"},
    {"{ \"a\": \"\t\" }",
     "f:1:9: a control character stands inside this text; write it as an escape, such as \\t"},
    {"{ \"a\": -x }", "f:1:8: this is no number; write digits, such as 5, 0.5 or -1"},
    {"{} {}", "f:1:4: something follows the end of the file's object; remove it"},
    {"{ \"a\": }", "f:1:8: \"}\" stands where a value is expected; write the value"},
    {"{ 1: 2 }", "f:1:3: a key in double quotes is expected here; write \"key\": value"},
    {"{ /* \n }", "f:1:3: this comment is not closed, or no comment; write /* ... */ or // ..."},
};

INSTANTIATE_TEST_SUITE_P(All, WrongTexts, testing::ValuesIn(kWrong));

TEST(Document, RefusesWhatIsNestedTooDeep) {
  EXPECT_EQ(problems_of(std::string(100'000, '[')),
            "f:1:65: more than 64 brackets are open here; write a flatter file\n");
}

TEST(Document, SurvivesEveryTruncationAndEveryFlippedByte) {
  const std::string good = test::content(test::kGood / "many.json");
  for (std::size_t i = 0; i < good.size(); ++i) {
    problems_of(good.substr(0, i));
    std::string flipped = good;
    flipped[i] = static_cast<char>(flipped[i] ^ 0x15);
    problems_of(flipped);
  }
}

}  // namespace
}  // namespace unplug::scenario
