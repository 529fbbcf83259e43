#include "check/items.hpp"

#include <algorithm>

#include "check/fields.hpp"

namespace unplug::check {
namespace {

std::vector<std::string> texts(const journal::Json& list) {
  std::vector<std::string> all;
  for (const journal::Json& entry : list) {
    if (entry.is_string()) all.push_back(entry.get<std::string>());
  }
  return all;
}

}  // namespace

std::vector<std::string> ItemSnapshot::states_of(const std::string& item) const {
  std::vector<std::string> states;
  for (const ItemEntry& entry : items) {
    if (entry.item == item) states.push_back(entry.state);
  }
  return states;
}

ItemSnapshot item_snapshot(const journal::Event& snapshot, Span taken) {
  ItemSnapshot result;
  result.seq = snapshot.seq;
  result.node = snapshot.node;
  result.when = text_of(snapshot.data, "when");
  result.clean = flag_of(snapshot.data, "clean", false);
  result.taken = taken;
  const journal::Json* what = field(snapshot.data, "what");
  if (what == nullptr || !what->contains("items")) {
    result.clean = false;
    return result;
  }
  for (const journal::Json& entry : list_of(*what, "items")) {
    result.items.push_back({text_of(entry, "item"), text_of(entry, "state"),
                            text_of(entry, "owner"), text_of(entry, "file")});
  }
  result.foreign = texts(list_of(*what, "foreign"));
  result.partial = texts(list_of(*what, "partial"));
  return result;
}

void add_work(std::vector<Work>& works, const journal::Event& work, Span when) {
  const std::string item = text_of(work.data, "item");
  const std::string seat = text_of(work.data, "seat");
  if (text_of(work.data, "edge") == "begin") {
    works.push_back({item, seat, when, work.seq, std::nullopt, 0, ""});
    return;
  }
  const auto open = std::find_if(works.rbegin(), works.rend(), [&](const Work& w) {
    return w.item == item && w.seat == seat && !w.end;
  });
  if (open == works.rend()) return;
  open->end = when;
  open->end_seq = work.seq;
  open->end_event = text_of(work.data, "event");
}

bool terminal_state(const scenario::Target& target, const std::string& state) {
  if (!target.items) return false;
  const auto& terminal = target.items->terminal;
  return std::find(terminal.begin(), terminal.end(), state) != terminal.end();
}

bool done_state(const scenario::Target& target, const std::string& state) {
  if (!terminal_state(target, state)) return false;
  const auto& outputs = target.items->outputs;
  if (outputs.empty()) return state != "failed" && state != target.items->cancelled;
  return outputs.count(state) > 0;
}

}  // namespace unplug::check
