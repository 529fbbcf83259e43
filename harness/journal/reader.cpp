#include "journal/reader.hpp"

#include <fmt/format.h>

#include <fstream>

#include "base/error.hpp"
#include "base/sha256.hpp"
#include "journal/chain.hpp"

namespace unplug::journal {
namespace {

// Follows the chain line by line; the first line that does not hold ends the journal.
class Follower {
 public:
  explicit Follower(Journal& journal) : journal_(journal) {}

  bool take(const std::string& line) {
    ++number_;
    try {
      accept(from_line(line));
    } catch (const Error& error) {
      journal_.broken = fmt::format("line {}: {}", number_, error.what());
      return false;
    }
    prev_ = sha256(line);
    return true;
  }

 private:
  void accept(Event event) {
    if (event.seq != number_) {
      throw Error(Exit::kUsage, "", fmt::format("has number {}", event.seq),
                  "a line was removed, added or moved");
    }
    if (event.prev != prev_) {
      throw Error(Exit::kUsage, "", "does not follow the line before it",
                  "a line was changed, removed, added or moved");
    }
    journal_.events.push_back(std::move(event));
  }

  Journal& journal_;
  std::uint64_t number_ = 0;
  std::string prev_ = kNothingBefore;
};

}  // namespace

Journal read(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in || std::filesystem::is_directory(file)) {
    throw Error(Exit::kUsage, file.string(), "no journal that can be read");
  }
  Journal journal;
  Follower follower(journal);
  for (std::string line; std::getline(in, line);) {
    if (in.eof()) {
      journal.torn = true;  // no line feed: the writer died in this line
      break;
    }
    if (!follower.take(line)) break;
  }
  return journal;
}

}  // namespace unplug::journal
