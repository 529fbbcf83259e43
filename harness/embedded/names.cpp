#include <array>
#include <charconv>
#include <string_view>

#include "base/error.hpp"
#include "embedded/lab.hpp"

namespace unplug::embedded {
namespace {

constexpr std::array<std::string_view, 10> kWords = {"zero", "one", "two",   "three", "four",
                                                     "five", "six", "seven", "eight", "nine"};
constexpr std::string_view kSuffix = "-node";

}  // namespace

std::string name_of(int nodes) {
  const auto n = static_cast<std::size_t>(nodes);
  if (n < kWords.size()) return std::string(kWords[n]) + std::string(kSuffix);
  return "nodes-" + std::to_string(nodes);
}

int nodes_of(const std::string& name) {
  std::string_view count = name;
  if (count.ends_with(kSuffix)) {
    count.remove_suffix(kSuffix.size());
    for (std::size_t i = 1; i < kWords.size(); ++i) {
      if (kWords[i] == count) return static_cast<int>(i);
    }
    int n = 0;
    const auto [end, error] = std::from_chars(count.data(), count.data() + count.size(), n);
    if (error == std::errc{} && end == count.data() + count.size() && n >= 1 && n <= 50) return n;
  }
  throw Error(Exit::kUsage, "lab \"" + name + "\"", "there is no such built-in lab",
              "use two-node, or N-node with N from 1 to 50");
}

}  // namespace unplug::embedded
