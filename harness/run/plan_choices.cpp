// Whom a fault may hit, out of the seats, nodes and links of the lab.
#include <algorithm>

#include "run/plan_draft.hpp"
#include "run/plan_faults.hpp"

namespace unplug::run {
namespace {

using scenario::Param;
using scenario::ParamValue;
using scenario::Seat;
using scenario::Selector;

std::vector<Seat> seats_of_place(const Plan& plan, const std::string& place) {
  std::vector<Seat> seats;
  for (const SeatPlan& s : plan.seats) {
    if (s.seat.place == place) seats.push_back(s.seat);
  }
  return seats;
}

std::vector<Seat> picked(const Draft& draft, const Selector& selector, const std::string& place) {
  std::vector<Seat> seats = seats_of_place(draft.plan, place);
  if (selector.pick == Selector::Pick::kAll) return seats;
  if (selector.pick == Selector::Pick::kAny) {
    if (seats.empty()) draft.refuse("there is no " + place, "bind it under \"place\"");
    return {seats[draw(draft.plan.seed, draft.fault.id + "/any") % seats.size()]};
  }
  const Seat one{place, selector.number};
  draft.plan.node_of(one);
  return {one};
}

Selector selector_of(const Draft& draft, const std::string& text) {
  const auto selector = scenario::parse_selector(text);
  if (!selector) draft.refuse("\"" + text + "\" names nothing", "write for example \"worker 2\"");
  return *selector;
}

std::vector<Choice> process_choices(const Draft& draft, const Param& param) {
  const ParamValue* value = draft.given(param.name);
  if (value == nullptr)
    draft.refuse("it needs \"" + param.name + "\"", "name a part: \"worker 2\"");
  const Selector selector = selector_of(draft, value->text);
  const scenario::Part* part = draft.bundle.target.part(selector.word);
  if (part == nullptr) draft.refuse("no part is called \"" + selector.word + "\"", "");
  std::vector<Choice> choices;
  for (const Seat& seat : picked(draft, selector, part->place)) {
    choices.push_back({param.name, Victim{part->name, seat}, draft.plan.node_of(seat), seat.id()});
  }
  return choices;
}

std::vector<Choice> node_choices(const Draft& draft, const Param& param) {
  const ParamValue* value = draft.given(param.name);
  if (value == nullptr) draft.refuse("it needs \"" + param.name + "\"", "name a node: \"node 1\"");
  const Selector selector = selector_of(draft, value->text);
  if (selector.pick == Selector::Pick::kOne) {
    const std::string& text = value->text;
    return {{param.name, std::nullopt, node_named(draft, text), seat_named(draft, text)}};
  }
  std::vector<Choice> choices;
  for (const Seat& seat : picked(draft, selector, selector.word)) {
    choices.push_back({param.name, std::nullopt, draft.plan.node_of(seat), seat.id()});
  }
  return choices;
}

// A link's near end is no choice, but where a seat names it, that seat is whom the fault is about.
Choice near_end(const Draft& draft) {
  for (const Param& param : draft.injector.params) {
    if (param.type != "node" || param.of.empty()) continue;
    const ParamValue* value = draft.given(param.name);
    if (value != nullptr) return {{}, std::nullopt, {}, seat_named(draft, value->text)};
  }
  return {};
}

}  // namespace

std::string seat_named(const Draft& draft, const std::string& text) {
  const Selector selector = selector_of(draft, text);
  if (selector.word == "node" || selector.pick != Selector::Pick::kOne) return "";
  return Seat{selector.word, selector.number}.id();
}

std::string node_named(const Draft& draft, const std::string& text) {
  return run::node_named(draft.bundle.lab, draft.plan, selector_of(draft, text));
}

std::vector<Choice> choices_of(const Draft& draft) {
  for (const Param& param : draft.injector.params) {
    if (param.type == "process") return process_choices(draft, param);
  }
  for (const Param& param : draft.injector.params) {
    if (param.type == "node" && param.of.empty()) return node_choices(draft, param);
  }
  return {near_end(draft)};
}

scenario::Link link_of(const Draft& draft, const Param& param) {
  const ParamValue* value = draft.given(param.name);
  if (value == nullptr) draft.refuse("it needs \"" + param.name + "\"", "name a link");
  const auto& links = draft.bundle.lab.links;
  const auto joins = [](const scenario::Link& l, const std::string& a, const std::string& b) {
    return (l.near.node == a && l.far.node == b) || (l.near.node == b && l.far.node == a);
  };
  auto found = links.end();
  std::string near;
  if (value->between.size() == 2) {
    near = node_named(draft, value->between[0]);
    const std::string far = node_named(draft, value->between[1]);
    found = std::ranges::find_if(links, [&](const auto& l) { return joins(l, near, far); });
  } else {
    found = std::ranges::find_if(links, [&](const auto& l) { return l.name == value->text; });
  }
  if (found == links.end()) draft.refuse("the lab has no such link", "see \"links\" of the lab");
  for (const Param& other : draft.injector.params) {
    if (other.of != param.name) continue;
    if (const ParamValue* end = draft.given(other.name)) near = node_named(draft, end->text);
  }
  scenario::Link link = *found;
  if (!near.empty() && link.near.node != near) std::swap(link.near, link.far);
  return link;
}

}  // namespace unplug::run
