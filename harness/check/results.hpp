// What counts as a result of work, and when an item was done.
#pragma once

#include <optional>
#include <set>
#include <string>

#include "check/checks.hpp"

namespace unplug::check {

// The events that end work with a result in the undisturbed run; empty without a baseline.
std::set<std::string> results_of_baseline(const Question& q);
// The same; without a baseline, every event that ends work.
std::set<std::string> finishing_events(const Question& q);

struct Done {
  std::optional<Span> when;  // between the last look that did not and the first that did show it
  std::uint64_t seq = 0;
  std::optional<Sighting> last_open;  // the last look that showed it not done
};
Done done_at(const Question& q, const std::string& item);

}  // namespace unplug::check
