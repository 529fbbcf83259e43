#include "campaign/worst.hpp"

#include <algorithm>
#include <array>

namespace unplug::campaign {
namespace {

constexpr std::array kWorstFirst = {Exit::kUsage,       Exit::kUnhealed, Exit::kInternal,
                                    Exit::kInterrupted, Exit::kFail,     Exit::kInconclusive,
                                    Exit::kPass};

}  // namespace

Exit worse(Exit a, Exit b) {
  const auto rank = [](Exit e) { return std::ranges::find(kWorstFirst, e) - kWorstFirst.begin(); };
  return rank(a) <= rank(b) ? a : b;
}

}  // namespace unplug::campaign
