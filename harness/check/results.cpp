#include "check/results.hpp"

#include <algorithm>

namespace unplug::check {

std::set<std::string> results_of_baseline(const Question& q) {
  std::set<std::string> names;
  if (q.baseline == nullptr) return names;
  for (const Work& work : q.baseline->works) {
    if (work.end) names.insert(work.end_event);
  }
  return names;
}

std::set<std::string> finishing_events(const Question& q) {
  std::set<std::string> names = results_of_baseline(q);
  if (!names.empty()) return names;
  for (const scenario::EventPattern& event : q.target.events) {
    if (event.work == scenario::Work::kEnd) names.insert(event.name);
  }
  return names;
}

Done done_at(const Question& q, const std::string& item) {
  Done done;
  const auto found = q.run.sightings.find(item);
  if (found == q.run.sightings.end()) return done;
  for (const Sighting& sighting : found->second) {
    if (done_state(q.target, sighting.state)) {
      const std::int64_t since = done.last_open ? done.last_open->when.lo : kUnknownPast;
      done.when = Span{std::min(since, sighting.when.hi), sighting.when.hi};
      done.seq = sighting.seq;
      return done;
    }
    done.last_open = sighting;
  }
  return done;
}

}  // namespace unplug::check
