// Files that the tests of scenario/ read: good ones, and small edits of them.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "scenario/load.hpp"

namespace unplug::scenario::test {

inline const std::filesystem::path kTree = UNPLUG_TEST_ROOT;
inline const std::filesystem::path kGood = kTree / "tests/scenario/good";

// Names are found beside the scenario, as a user's own are; nothing shipped is mixed in.
inline Library good_library() { return {"/nowhere", {kGood / "injectors"}, {kGood / "targets"}}; }

inline std::string texts(const std::vector<Problem>& problems) {
  std::string all;
  for (const Problem& problem : problems) all += problem.text() + "\n";
  return all;
}

inline std::string content(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

// The four kinds of file (told by their first key) under a folder, schemas left out.
inline std::vector<std::filesystem::path> files_under(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  if (!std::filesystem::exists(folder)) return files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    const std::string text =
        name.ends_with(".json") && !name.ends_with(".schema.json") ? content(entry.path()) : "";
    const auto has = [&](const char* key) { return text.find(key) != std::string::npos; };
    if (has("\"scenario\":") || has("\"lab\":") || has("\"target\":") || has("\"injector\":")) {
      files.push_back(entry.path());
    }
  }
  std::ranges::sort(files);
  return files;
}

}  // namespace unplug::scenario::test
