#include "check/coverage.hpp"

#include "check/fields.hpp"

namespace unplug::check {
namespace {

// What an observer says within this time of a gap's end may have happened in the gap.
constexpr std::int64_t kJustAfter = 1'000'000'000;

Span moment(const journal::Event& event, const char* key, const Clocks& clocks) {
  const auto ns = integer_of(event.data, key);
  if (event.node_time) {
    const journal::NodeTime time{event.node_time->boot, ns.value_or(event.node_time->ns)};
    if (const auto span = clocks.at(event.node, time)) return *span;
  }
  return {event.t, event.t};
}

}  // namespace

void Coverage::add(const journal::Event& observer, const Clocks& clocks) {
  std::vector<Watch>& watches = nodes_[observer.node][text_of(observer.data, "id")];
  const std::string edge = text_of(observer.data, "edge");
  if (edge == "begin" || watches.empty()) watches.emplace_back();
  Watch& watch = watches.back();
  if (edge == "begin") {
    watch.begin = moment(observer, "from", clocks);
  } else if (edge == "end") {
    watch.end = moment(observer, "to", clocks);
  } else if (edge == "gap") {
    watch.gaps.push_back(hull(moment(observer, "from", clocks), moment(observer, "to", clocks)));
  }
}

void Coverage::heard(const std::string& node, Span when) {
  const auto [found, added] = heard_.try_emplace(node, when);
  if (!added && found->second.hi < when.hi) found->second = when;
}

bool Coverage::covers(const Watch& watch, Span window, std::optional<Span> heard) {
  const std::optional<Span> end = watch.end ? watch.end : heard;
  if (!watch.begin || watch.begin->hi > window.lo || !end || end->lo < window.hi) return false;
  return std::none_of(watch.gaps.begin(), watch.gaps.end(),
                      [&](const Span& gap) { return gap.lo <= window.hi && gap.hi >= window.lo; });
}

bool Coverage::covers(const std::string& node, const std::string& observer, Span window) const {
  const auto found = nodes_.find(node);
  if (found == nodes_.end()) return false;
  const auto last = heard_.find(node);
  const std::optional<Span> heard =
      last == heard_.end() ? std::nullopt : std::optional<Span>(last->second);
  bool covered = false;
  for (const auto& [id, watches] : found->second) {
    if (id != observer && id != kAllObservers) continue;
    const bool here = std::any_of(watches.begin(), watches.end(),
                                  [&](const Watch& watch) { return covers(watch, window, heard); });
    if (!here) return false;
    covered = true;
  }
  return covered;
}

bool Coverage::ended(const std::string& node) const {
  const auto found = nodes_.find(node);
  if (found == nodes_.end()) return false;
  return std::all_of(found->second.begin(), found->second.end(),
                     [](const auto& observer) { return observer.second.back().end.has_value(); });
}

std::optional<Span> Coverage::gap_before(const std::string& node, Span when) const {
  const auto found = nodes_.find(node);
  if (found == nodes_.end()) return std::nullopt;
  std::optional<Span> widest;
  for (const auto& [id, watches] : found->second) {
    for (const Watch& watch : watches) {
      for (const Span& gap : watch.gaps) {
        const bool just_before = gap.hi <= when.hi + kJustAfter && when.lo - gap.hi <= kJustAfter;
        if (just_before && gap.lo <= when.hi) widest = widest ? hull(*widest, gap) : gap;
      }
    }
  }
  return widest;
}

}  // namespace unplug::check
