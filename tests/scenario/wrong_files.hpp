// Small edits of the good files, each with the one message that it gets.
#pragma once

#include <ostream>
#include <vector>

namespace unplug::scenario::test {

// Who can see what is wrong: the reader always; the schema only what one file's shape shows.
enum class Seen { kShape, kMeaning };

struct WrongFile {
  const char* file;  // relative to good/
  const char* from;  // its first occurrence becomes `to`
  const char* to;
  Seen seen;
  const char* problem;  // "LINE:COLUMN: what; mend"; of another file: "FILE:LINE:..."
};

const std::vector<WrongFile>& wrong_files();

// As problems are printed; a second line is of the same file.
inline std::string problem_of(const WrongFile& wrong) {
  if (wrong.problem[0] > '9') return std::string(wrong.problem) + "\n";
  std::string text = std::string(wrong.file) + ":" + wrong.problem + "\n";
  for (std::size_t at = text.find('\n'); at + 1 < text.size(); at = text.find('\n', at + 1)) {
    text.insert(at + 1, std::string(wrong.file) + ":");
  }
  return text;
}

// For the names that test programs print.
inline void PrintTo(const WrongFile& wrong, std::ostream* out) {
  *out << wrong.file << " with " << wrong.to;
}

}  // namespace unplug::scenario::test
