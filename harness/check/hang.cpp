#include "check/hang.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "check/timing.hpp"

namespace unplug::check {
namespace {

// Of one core, over the window.
constexpr double kBusy = 0.20, kIdle = 0.05;
// No progress for ten times the longest gap of the undisturbed run is none; 5 s at the least.
constexpr std::int64_t kGaps = 10, kLeastWindow = 5'000'000'000;

std::int64_t window_of(const Question& q, const std::string& seat) {
  std::int64_t longest = 0;
  if (q.baseline != nullptr) {
    const Progress* before = nullptr;
    for (const Progress& p : q.baseline->progress) {
      if (p.seat != seat) continue;
      if (before != nullptr) longest = std::max(longest, elapsed(before->when, p.when).hi);
      before = &p;
    }
  }
  return std::max(kGaps * longest, kLeastWindow);
}

// "" when nothing shows progress in the last window.
std::string goes_on(const Question& q, const Process& process, Span from, std::int64_t since) {
  bool before = false, late = false;
  for (const Progress& p : q.run.progress) {
    if (p.seat != process.seat || !surely_before(from, p.when)) continue;
    (within(elapsed(from, p.when), limit(q)) == Within::kNo ? late : before) = true;
    if (p.when.lo < since) continue;
    return late && !before ? "makes progress again, late" : "goes on as if nothing had happened";
  }
  return "";
}

}  // namespace

std::string hang_of(const Question& q, const Process& process, Span from) {
  const ProcessSample& end = process.samples.back();
  const std::int64_t since = std::max(from.hi, end.when.lo - window_of(q, process.seat));
  const std::string on = goes_on(q, process, from, since);
  if (!on.empty()) return on;
  const ProcessSample *first = nullptr, *last = nullptr;
  for (const ProcessSample& sample : process.samples) {
    if (!sample.cpu_ms || sample.when.lo < since) continue;
    if (first == nullptr) first = &sample;
    last = &sample;
  }
  if (first == nullptr || last->when.lo <= first->when.hi) return "hangs";
  const double share = static_cast<double>(*last->cpu_ms - *first->cpu_ms) * 1e6 /
                       static_cast<double>(last->when.lo - first->when.lo);
  const char* kind = share >= kBusy ? "busy" : share < kIdle ? "idle" : "mixed";
  return fmt::format("hangs {} ({:.0f} % of a core)", kind, share * 100);
}

}  // namespace unplug::check
