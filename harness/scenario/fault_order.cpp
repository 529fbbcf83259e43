// The faults of a scenario among each other: who comes after whom, and who holds what when.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "scenario/read_scenario.hpp"

namespace unplug::scenario {
namespace {

constexpr Duration kNever = Duration::max();

// When a fault may begin and when it may still hold, on the clock of "at".
struct Window {
  Duration begin{};
  Duration end{};
};

Duration plus(Duration a, Duration b) { return a > kNever - b ? kNever : a + b; }

class Order {
 public:
  Order(Sheet& sheet, const Value& list, const Scenario& scenario, const Context& context)
      : sheet_(sheet), list_(list), scenario_(scenario), context_(context) {}

  void check() {
    if (!names_exist() || cyclic()) return;
    const auto& faults = scenario_.faults;
    for (std::size_t later = 1; later < faults.size(); ++later) {
      for (std::size_t i = 0; i < later; ++i) apart(faults[i], faults[later], later);
    }
  }

 private:
  // The id after "after" or "with"; empty for other triggers.
  static std::string follows(const Fault& fault) {
    if (const auto* after = std::get_if<After>(&fault.trigger)) return after->fault;
    if (const auto* with = std::get_if<With>(&fault.trigger)) return with->fault;
    return "";
  }

  const Fault* fault(const std::string& id) const {
    const auto found = std::ranges::find(scenario_.faults, id, &Fault::id);
    return found == scenario_.faults.end() ? nullptr : &*found;
  }

  const Value& trigger_at(std::size_t i) const {
    const Value& fault = list_.items[i];
    const Value* after = fault.find("after");
    const Value* with = fault.find("with");
    return after != nullptr ? *after : with != nullptr ? *with : fault;
  }

  bool names_exist() {
    bool good = true;
    for (std::size_t i = 0; i < scenario_.faults.size(); ++i) {
      const std::string other = follows(scenario_.faults[i]);
      if (other.empty() || fault(other) != nullptr) continue;
      std::vector<std::string> ids;
      for (const Fault& one : scenario_.faults) {
        if (one.id != scenario_.faults[i].id) ids.push_back(one.id);
      }
      sheet_.unknown(trigger_at(i).position, "fault", other, ids);
      good = false;
    }
    return good;
  }

  // The faults from one back to itself, or nothing.
  std::vector<std::string> cycle_of(const Fault& start) const {
    std::vector<std::string> path = {start.id};
    for (const Fault* at = fault(follows(start)); at != nullptr; at = fault(follows(*at))) {
      path.push_back(at->id);
      if (at->id == start.id) return path;
      if (path.size() > scenario_.faults.size()) break;  // a cycle further back
    }
    return {};
  }

  bool cyclic() {
    std::vector<std::string> told;
    bool any = false;
    for (std::size_t i = 0; i < scenario_.faults.size(); ++i) {
      const std::vector<std::string> path = cycle_of(scenario_.faults[i]);
      if (path.empty()) continue;
      any = true;
      if (std::ranges::find(told, path.front()) != told.end()) continue;
      told.insert(told.end(), path.begin(), path.end());
      std::string text = path.front();
      for (std::size_t k = 1; k < path.size(); ++k) text += " -> " + path[k];
      sheet_.complain(trigger_at(i), "these faults wait for each other: " + text,
                      "give one of them a trigger of its own");
    }
    return any;
  }

  bool same_moment(const Fault& a, const Fault& b) const { return leader(a) == leader(b); }

  // The fault whose trigger fires this one: itself, or what it is fired with.
  std::string leader(const Fault& start) const {
    const Fault* at = &start;
    while (const auto* with = std::get_if<With>(&at->trigger)) {
      const Fault* next = fault(with->fault);
      if (next == nullptr) break;
      at = next;
    }
    return at->id;
  }

  // `first` has ended before `second` may begin, because a chain of "after" says so.
  bool ended_before(const Fault& first, const Fault& second) const {
    const Fault* lead = fault(leader(second));
    const auto* after = lead == nullptr ? nullptr : std::get_if<After>(&lead->trigger);
    if (after == nullptr) return false;
    const Fault* before = fault(after->fault);
    return before != nullptr && (before->id == first.id || ended_before(first, *before));
  }

  static Duration hold(const Fault& fault) { return fault.hold.value_or(Duration::zero()); }

  Window window(const Fault& fault_in) const {
    const Fault* lead = fault(leader(fault_in));
    const Duration held = hold(fault_in);
    if (const auto* at = std::get_if<At>(&lead->trigger)) return {at->time, at->time + held};
    if (const auto* between = std::get_if<Between>(&lead->trigger)) {
      return {between->earliest, between->latest + held};
    }
    if (const auto* after = std::get_if<After>(&lead->trigger)) {
      const Fault* before = fault(after->fault);
      const Duration first =
          before == nullptr ? Duration::zero() : window(*before).begin + hold(*before);
      return {plus(first, after->plus), kNever};
    }
    // Before start, a fault begins somewhere below zero; an event may come at any time.
    return {Duration::zero(), kNever};
  }

  bool during_recover(const Fault& fault_in) const {
    const Fault* lead = fault(leader(fault_in));
    return std::holds_alternative<DuringRecover>(lead->trigger);
  }

  bool can_overlap(const Fault& a, const Fault& b) const {
    if (!a.hold && !b.hold) return false;  // lasting ones hold nothing
    if (same_moment(a, b)) return true;
    if (ended_before(a, b) || ended_before(b, a)) return false;
    // Recover begins when all that was held before is verified to be reverted.
    if (during_recover(a) != during_recover(b)) return false;
    const Window one = window(a);
    const Window other = window(b);
    return one.begin <= other.end && other.begin <= one.end;
  }

  // What a fault holds, in words: "link tb", "renderer 2", "node 2".
  std::set<std::string> held_by(const Fault& fault_in) const {
    std::set<std::string> held;
    const Injector* injector = context_.injector(fault_in.injector);
    if (injector == nullptr) return held;
    for (const Param& param : injector->params) {
      const auto value = fault_in.params.find(param.name);
      if (value == fault_in.params.end()) continue;
      if (param.type == "link") held.insert(link_held(value->second));
      if (param.type == "process") held.merge(processes_held(value->second.text));
      if (param.type == "node" && param.of.empty()) {
        held.merge(nodes_held(*injector, value->second.text));
      }
    }
    return held;
  }

  std::string link_held(const ParamValue& value) const {
    if (const Link* link = link_of(value, context_, scenario_)) return "link " + link->name;
    if (value.between.empty()) return "link " + value.text;
    std::string text = "the link between nodes";
    for (const int position : joined_by(value, context_, scenario_)) {
      text += " " + std::to_string(position);
    }
    return text;
  }

  std::set<std::string> processes_held(const std::string& text) const {
    std::set<std::string> held;
    const auto selector = parse_selector(text);
    if (!selector) return held;
    if (selector->pick == Selector::Pick::kOne) return {text};
    const auto bound = scenario_.place.find(place_of(*selector, Subject::kPart, context_));
    const std::size_t count = bound == scenario_.place.end() ? 0 : bound->second.size();
    for (std::size_t i = 1; i <= count; ++i) {
      held.insert(fmt::format("{} {}", selector->word, i));
    }
    return held;
  }

  // A node that is cut off holds it against all others of that kind; else the same injector
  // twice on one node does.
  std::set<std::string> nodes_held(const Injector& injector, const std::string& text) const {
    std::set<std::string> held;
    const auto selector = parse_selector(text);
    if (!selector) return held;
    const bool cut = injector.cuts == Cuts::kNode || injector.cuts == Cuts::kControl;
    for (const int position : positions_of(*selector, Subject::kNode, context_, scenario_)) {
      held.insert(cut ? fmt::format("node {}", position)
                      : fmt::format("what {} breaks on node {}", injector.name, position));
    }
    return held;
  }

  void apart(const Fault& earlier, const Fault& later, std::size_t later_index) {
    if (earlier.id.empty() || later.id.empty() || earlier.id == later.id) return;
    const std::set<std::string> one = held_by(earlier);
    const std::set<std::string> other = held_by(later);
    const auto both =
        std::ranges::find_if(one, [&](const auto& what) { return other.contains(what); });
    if (both == one.end() || !can_overlap(earlier, later)) return;
    sheet_.complain(list_.items[later_index],
                    fmt::format("faults \"{}\" and \"{}\" can hold {} at one time", earlier.id,
                                later.id, *both),
                    fmt::format("write \"after\": \"{}\", or times that are apart", earlier.id));
  }

  Sheet& sheet_;
  const Value& list_;
  const Scenario& scenario_;
  const Context& context_;
};

}  // namespace

void check_order(Sheet& sheet, const Value& faults, const Scenario& scenario,
                 const Context& context) {
  if (faults.items.size() != scenario.faults.size()) return;
  Order(sheet, faults, scenario, context).check();
}

}  // namespace unplug::scenario
