// Files that the tests of scenario/ read: good ones, and small edits of them.
#pragma once

#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "scenario/document.hpp"
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

// "scenario", "lab", "target" or "injector", told by its keys; "" for all other files.
inline std::string kind_of(const std::filesystem::path& file) {
  std::vector<Problem> ignored;
  if (file.extension() != ".json") return "";
  const auto root = parse_document(file.string(), content(file), ignored);
  for (const char* kind : {"scenario", "lab", "target", "injector"}) {
    if (root && root->find(kind) != nullptr) return kind;
  }
  return "";
}

// The four kinds of file under a folder, sorted.
inline std::vector<std::filesystem::path> files_under(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  if (!std::filesystem::exists(folder)) return files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (!kind_of(entry.path()).empty()) files.push_back(entry.path());
  }
  std::ranges::sort(files);
  return files;
}

// The text with its first `from` replaced, which must be there.
inline std::string edited(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  if (at == std::string::npos) throw std::runtime_error("there is no " + from);
  return text.replace(at, from.size(), to);
}

// A copy of the good files in a folder of its own, with edits; removed at the end.
class EditedFiles {
 public:
  EditedFiles(const std::string& file, const std::string& from, const std::string& to) {
    std::string name = (std::filesystem::temp_directory_path() / "unplug-XXXXXX").string();
    folder_ = mkdtemp(name.data());
    std::filesystem::copy(kGood, folder_, std::filesystem::copy_options::recursive);
    edit(file, from, to);
  }
  EditedFiles(const EditedFiles&) = delete;
  EditedFiles& operator=(const EditedFiles&) = delete;
  ~EditedFiles() { std::filesystem::remove_all(folder_); }

  void edit(const std::string& file, const std::string& from, const std::string& to) const {
    const std::string text = edited(content(path(file)), from, to);
    std::ofstream(path(file), std::ios::binary) << text;
  }

  std::filesystem::path path(const std::string& file) const { return folder_ / file; }
  Library library() const { return {"/nowhere", {folder_ / "injectors"}, {folder_ / "targets"}}; }

  // All problems of the scenarios with the lab, a line each, paths relative to the folder.
  std::string problems() const {
    std::string all;
    for (const char* scenario : {"scenario.json", "many.json"}) {
      all = relative(load(path(scenario), path("lab.json"), library()).problems);
      if (!all.empty()) break;
    }
    return all;
  }

  std::string relative(std::vector<Problem> problems) const {
    for (Problem& problem : problems) {
      problem.file = std::filesystem::relative(problem.file, folder_).string();
    }
    return texts(problems);
  }

 private:
  std::filesystem::path folder_;
};

}  // namespace unplug::scenario::test
