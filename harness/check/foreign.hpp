// Whether what was on the nodes before us, and is not ours, is as it was (docs/semantics.md, Labs).
#pragma once

#include <string>
#include <vector>

#include "check/history.hpp"

namespace unplug::check {

struct ForeignChange {
  std::uint64_t seq = 0;
  std::string what;  // a path, or "process 123"
  std::string text;
};

struct ForeignAnswer {
  std::vector<ForeignChange> changed;
  std::string unknown;  // why it cannot be told, or ""
};

ForeignAnswer judge_foreign(const History& run);

}  // namespace unplug::check
