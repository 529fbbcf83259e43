#include "check/history.hpp"

#include <algorithm>

namespace unplug::check {

std::optional<Span> History::started() const {
  const auto run = phases.find("run");
  return run == phases.end() ? std::nullopt : run->second.begin;
}

std::vector<const FaultRecord*> History::faults_of(const std::vector<std::string>& ids) const {
  std::vector<const FaultRecord*> chosen;
  for (const FaultRecord& fault : faults) {
    const bool named = std::find(ids.begin(), ids.end(), fault.id) != ids.end();
    if (ids.empty() || named) chosen.push_back(&fault);
  }
  return chosen;
}

const ItemSnapshot* History::items_before() const {
  for (const ItemSnapshot& snapshot : item_snapshots) {
    if (snapshot.when == "before" && snapshot.clean) return &snapshot;
  }
  return nullptr;
}

const ItemSnapshot* History::items_final() const {
  for (auto s = item_snapshots.rbegin(); s != item_snapshots.rend(); ++s) {
    if (s->when == "after") return s->clean ? &*s : nullptr;
  }
  return nullptr;
}

std::string History::node_of(const std::string& seat) const {
  const auto found = seats.find(seat);
  return found == seats.end() ? "" : found->second;
}

std::string History::observer(const std::string& kind) const {
  const auto found = observers.find(kind);
  return found == observers.end() ? kind : found->second;
}

std::string History::since_start(Span when) const {
  const auto begun = started();
  if (!begun) return "";
  if (when.lo <= kUnknownPast) return "at a time that is not known";
  const std::int64_t after = (when.lo + when.hi) / 2 - begun->hi;
  return after < 0 ? people(-after) + " before start" : people(after) + " after start";
}

}  // namespace unplug::check
