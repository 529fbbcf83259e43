// The schemas in scenarios/schema/ and the readers, held together so that neither can drift.
// The only place that includes valijson: it costs 8 s to compile.
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validator.hpp>

#include "scenario/files.hpp"
#include "scenario/read.hpp"
#include "scenario/wrong_files.hpp"

namespace unplug::scenario {
namespace {

using Json = nlohmann::json;
using Adapter = valijson::adapters::NlohmannJsonAdapter;

Json schema_json(const std::string& kind) {
  return Json::parse(test::content(test::kTree / "scenarios/schema" / (kind + ".schema.json")));
}

const valijson::Schema& schema(const std::string& kind) {
  static std::map<std::string, valijson::Schema> all;
  const auto [entry, fresh] = all.try_emplace(kind);
  if (fresh) valijson::SchemaParser().populateSchema(Adapter(schema_json(kind)), entry->second);
  return entry->second;
}

// Why the schema refuses a value; empty when it takes it.
std::string refusal(const std::string& kind, const Json& value) {
  valijson::ValidationResults results;
  valijson::Validator validator;
  if (validator.validate(schema(kind), Adapter(value), &results)) return "";
  std::string text = "refused";
  for (valijson::ValidationResults::Error error; results.popError(error);) {
    for (const std::string& step : error.context) text += " " + step;
    text += ": " + error.description + "\n";
  }
  return text;
}

Json parsed(const std::filesystem::path& file) {
  return Json::parse(test::content(file), nullptr, true, true);
}

std::map<std::string, Injector> good_injectors() {
  std::map<std::string, Injector> all;
  std::vector<Problem> problems;
  for (const auto& [name, file] : injectors_of(test::good_library(), test::kGood)) {
    if (auto injector = load_injector(file, problems)) all[name] = *injector;
  }
  return all;
}

void read_all(Sheet& sheet, const std::string& kind, const Value& root) {
  if (kind == "lab") read_lab(sheet, root);
  if (kind == "target") read_target(sheet, root);
  if (kind == "injector") read_injector(sheet, root);
  if (kind != "scenario") return;
  // Injectors are known, so that their parameters are read too.
  const std::map<std::string, Injector> injectors = good_injectors();
  Context context;
  context.injectors = &injectors;
  for (const auto& [name, injector] : injectors) context.known_injectors.push_back(name);
  read_scenario(sheet, root, context);
}

// What the readers of one kind ask for, over all good files of the kind.
KeysTaken keys_taken(const std::string& kind) {
  KeysTaken all;
  for (const auto& file : test::files_under(test::kGood)) {
    if (test::kind_of(file) != kind) continue;
    std::vector<Problem> problems;
    const auto root = read_document(file, problems);
    Sheet sheet(file, problems);
    read_all(sheet, kind, *root);
    for (const auto& [shape, keys] : sheet.keys_taken())
      all[shape].insert(keys.begin(), keys.end());
  }
  return all;
}

std::set<std::string> properties(const Json& shape) {
  std::set<std::string> keys;
  for (const auto& [key, value] : shape.at("properties").items()) keys.insert(key);
  return keys;
}

// The same, as the schema says it: the file itself, and its definitions.
KeysTaken keys_in_schema(const std::string& kind) {
  const Json whole = schema_json(kind);
  KeysTaken all = {{kind, properties(whole)}};
  for (const auto& [shape, definition] : whole.at("definitions").items()) {
    all[shape] = properties(definition);
  }
  return all;
}

class Schemas : public testing::TestWithParam<const char*> {};

TEST_P(Schemas, HaveExactlyTheKeysThatTheReadersTake) {
  EXPECT_EQ(keys_in_schema(GetParam()), keys_taken(GetParam()));
}

void expect_described(const Json& properties_in, const std::string& where) {
  for (const auto& [key, value] : properties_in.items()) {
    EXPECT_TRUE(value.contains("description") || value.contains("$ref")) << where << "." << key;
  }
}

TEST_P(Schemas, DescribeEveryKeyForTheEditorsHover) {
  const Json whole = schema_json(GetParam());
  expect_described(whole.at("properties"), GetParam());
  for (const auto& [shape, definition] : whole.at("definitions").items()) {
    EXPECT_TRUE(definition.contains("description")) << shape;
    expect_described(definition.at("properties"), shape);
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, Schemas, testing::Values("scenario", "lab", "target", "injector"));

TEST(Schema, TakesEveryGoodFileAndEveryShippedOne) {
  for (const char* folder : {"tests/scenario/good", "injectors", "fixtures", "scenarios"}) {
    for (const auto& file : test::files_under(test::kTree / folder)) {
      EXPECT_EQ(refusal(test::kind_of(file), parsed(file)), "") << file;
    }
  }
}

TEST(Schema, IsNamedByEveryFileThatHasOne) {
  for (const char* folder : {"tests/scenario/good", "injectors", "fixtures", "scenarios"}) {
    for (const auto& file : test::files_under(test::kTree / folder)) {
      const Json value = parsed(file);
      if (!value.contains("$schema")) continue;
      const auto named = file.parent_path() / value.at("$schema").get<std::string>();
      EXPECT_TRUE(std::filesystem::exists(named)) << file << " names " << named;
    }
  }
}

std::string kind_of_good(const std::string& file) { return test::kind_of(test::kGood / file); }

class WrongShapes : public testing::TestWithParam<test::WrongFile> {};

TEST_P(WrongShapes, AreRefusedByTheSchemaAndOnlyThey) {
  const test::WrongFile& wrong = GetParam();
  const std::string good = test::content(test::kGood / wrong.file);
  const Json value = Json::parse(test::edited(good, wrong.from, wrong.to), nullptr, true, true);
  const std::string why = refusal(kind_of_good(wrong.file), value);
  EXPECT_EQ(why.empty(), wrong.seen == test::Seen::kMeaning)
      << wrong.to << " instead of " << wrong.from << "\n"
      << why;
}

INSTANTIATE_TEST_SUITE_P(All, WrongShapes, testing::ValuesIn(test::wrong_files()));

Json journal_line(const std::string& kind, const Json& data) {
  return {{"seq", 1},        {"prev", std::string(64, '0')},
          {"t", 5},          {"wall", "2026-11-30T18:41:50.123Z"},
          {"node", nullptr}, {"nboot", nullptr},
          {"nt", nullptr},   {"src", "controller"},
          {"kind", kind},    {"data", data}};
}

TEST(JournalSchema, TakesLinesOfTheJournal) {
  EXPECT_EQ(refusal("journal", journal_line("phase", {{"name", "run"}, {"edge", "begin"}})), "");
  EXPECT_EQ(refusal("journal", journal_line("note", {{"text", "hello"}})), "");
  EXPECT_EQ(refusal("journal", journal_line("fault", {{"id", "drop"}, {"state", "armed"}})), "");
}

TEST(JournalSchema, RefusesWhatIsNone) {
  EXPECT_NE(refusal("journal", journal_line("phase", {{"name", "rum"}, {"edge", "begin"}})), "");
  EXPECT_NE(refusal("journal", journal_line("fault", {{"id", "drop"}, {"state", "broken"}})), "");
  EXPECT_NE(refusal("journal", journal_line("gossip", Json::object())), "");
  Json line = journal_line("note", {{"text", "hello"}});
  line["prev"] = "abc";
  EXPECT_NE(refusal("journal", line), "");
}

}  // namespace
}  // namespace unplug::scenario
