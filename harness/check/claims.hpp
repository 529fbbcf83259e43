// Who held which item and when, as seen on the file server's node: from the first clean snapshot
// that shows the claim's name to the first that does not.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "check/checks.hpp"

namespace unplug::check {

struct Claim {
  std::string item, owner, name;  // name: the path, which tells two claims of one owner apart
  Span taken;                     // between the last look without and the first with it
  std::uint64_t taken_seq = 0;
  std::optional<Span> gone;  // between the last look with and the first without it
  std::uint64_t gone_seq = 0;
  bool finished = false;  // when it was gone the item was at rest: it was not taken away
};

// An item that was handed in, in a state that is not terminal, and with an owner.
bool is_claim(const Question& q, const ItemEntry& entry);

std::vector<Claim> claims_of(const Question& q);

// Is the seat the owner that a claim names: by its own name, its node's, or what that calls itself?
bool is_owner(const History& run, const std::string& owner, const std::string& seat);

}  // namespace unplug::check
