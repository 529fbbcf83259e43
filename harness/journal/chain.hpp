// What makes lines a chain: numbers without gaps, and in each line the hash of the line before.
//
// Owned by a sink. An event that could not be written was never in the chain: `commit` moves
// the chain on, `next` does not.
#pragma once

#include <string>
#include <string_view>

#include "journal/event.hpp"
#include "journal/writer.hpp"

namespace unplug::journal {

inline const std::string kNothingBefore(64, '0');

class Chain {
 public:
  // The draft with what the writer adds: seq, prev, and t and wall where they are missing.
  Event next(Draft draft) const;
  void commit(std::string_view line);
  std::uint64_t count() const { return count_; }

 private:
  std::uint64_t count_ = 0;
  std::string prev_ = kNothingBefore;
};

}  // namespace unplug::journal
