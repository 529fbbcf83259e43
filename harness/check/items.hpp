// Work items as snapshots showed them, and who worked on what.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "check/span.hpp"
#include "journal/event.hpp"
#include "scenario/target.hpp"

namespace unplug::check {

struct ItemEntry {
  std::string item, state, owner, file;
};

struct ItemSnapshot {
  std::uint64_t seq = 0;
  std::string node;
  std::string when;  // before, poll, after
  bool clean = true;
  Span taken;
  std::vector<ItemEntry> items;
  std::vector<std::string> foreign, partial;

  std::vector<std::string> states_of(const std::string& item) const;
};
ItemSnapshot item_snapshot(const journal::Event& snapshot, Span taken);

// One stretch of work of one seat on one item.
struct Work {
  std::string item, seat;
  Span begin;
  std::uint64_t begin_seq = 0;
  std::optional<Span> end;
  std::uint64_t end_seq = 0;
  std::string end_event;
};

// `begin` opens a stretch, `end` closes the latest open one of that seat and item.
void add_work(std::vector<Work>& works, const journal::Event& work, Span when);

// An item was seen in a state: by a clean snapshot or an `item` event.
struct Sighting {
  std::uint64_t seq = 0;
  std::string state;
  Span when;
};

// Terminal states in which the work is done: those that have outputs; where no state has any,
// all terminal ones but "failed" and the one of cancelled items.
bool done_state(const scenario::Target& target, const std::string& state);
bool terminal_state(const scenario::Target& target, const std::string& state);

}  // namespace unplug::check
