// What a fault is about: processes, nodes and links, as the scenario's places bind them.
#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "scenario/read_scenario.hpp"

namespace unplug::scenario {
namespace {

constexpr const char* kNodeWord = "node";

bool lacks_word(Sheet& sheet, const Value& value, const Selector& selector, Subject subject,
                const Target& target) {
  if (subject == Subject::kPart) {
    if (target.part(selector.word) != nullptr) return false;
    sheet.unknown(value.position, "process", selector.word, names_of(target.parts));
    return true;
  }
  if (target.place(selector.word) != nullptr) return false;
  std::vector<std::string> names = names_of(target.places);
  if (subject == Subject::kNode) {
    if (selector.word == kNodeWord) return false;
    names.emplace_back(kNodeWord);
  }
  sheet.unknown(value.position, "place", selector.word, names);
  return true;
}

// "worker 3" of two.
bool out_of_range(Sheet& sheet, const Value& value, const Selector& selector,
                  const std::string& what, std::size_t count) {
  if (static_cast<std::size_t>(selector.number) <= count) return false;
  sheet.complain(
      value, fmt::format("there is no {}", to_text(selector)),
      count == 1 ? fmt::format("{} has 1", what) : fmt::format("{} has {}", what, count));
  return true;
}

const Link* link_between(const Lab& lab, const std::string& one, const std::string& other) {
  for (const Link& link : lab.links) {
    if (link.near.node == one && link.far.node == other) return &link;
    if (link.near.node == other && link.far.node == one) return &link;
  }
  return nullptr;
}

int position_in(const Lab& lab, const std::string& node) {
  const auto found = std::ranges::find(lab.nodes, node, &LabNode::name);
  return found == lab.nodes.end() ? 0 : static_cast<int>(found - lab.nodes.begin()) + 1;
}

}  // namespace

std::string place_of(const Selector& selector, Subject subject, const Context& context) {
  if (subject == Subject::kPart) {
    const Part* part = context.target == nullptr ? nullptr : context.target->part(selector.word);
    return part == nullptr ? "" : part->place;
  }
  if (subject == Subject::kNode && selector.word == kNodeWord) return "";
  return selector.word;
}

std::optional<Selector> read_selector(Sheet& sheet, const Value& value, std::string_view key,
                                      Subject subject, const Context& context,
                                      const Scenario& scenario) {
  std::string text;
  if (!sheet.read(value, key, text)) return std::nullopt;
  const auto selector = parse_selector(text);
  if (!selector) {
    sheet.complain(value, fmt::format("\"{}\" is \"{}\", which names nothing", key, text),
                   R"(write it as "worker 2", "all worker" or "any worker")");
    return std::nullopt;
  }
  if (context.target == nullptr) return selector;
  if (lacks_word(sheet, value, *selector, subject, *context.target)) return std::nullopt;
  const std::string place = place_of(*selector, subject, context);
  if (place.empty()) {
    if (context.lab != nullptr &&
        out_of_range(sheet, value, *selector, "the lab", context.lab->nodes.size())) {
      return std::nullopt;
    }
    return selector;
  }
  const auto bound = scenario.place.find(place);
  if (bound == scenario.place.end()) return std::nullopt;  // said at "place", once
  const std::string what = fmt::format("place \"{}\"", place);
  if (out_of_range(sheet, value, *selector, what, bound->second.size())) return std::nullopt;
  return selector;
}

Positions positions_of(const Selector& selector, Subject subject, const Context& context,
                       const Scenario& scenario) {
  const bool one = selector.pick == Selector::Pick::kOne;
  const std::string place = place_of(selector, subject, context);
  Positions positions;
  if (place.empty()) {
    if (one) return {selector.number};
    const std::size_t count = context.lab == nullptr ? 0 : context.lab->nodes.size();
    for (std::size_t i = 1; i <= count; ++i) positions.insert(static_cast<int>(i));
    return positions;
  }
  const auto bound = scenario.place.find(place);
  if (bound == scenario.place.end()) return {};
  if (!one) return {bound->second.begin(), bound->second.end()};
  const auto i = static_cast<std::size_t>(selector.number) - 1;
  if (i < bound->second.size()) positions.insert(bound->second[i]);
  return positions;
}

Positions joined_by(const ParamValue& value, const Context& context, const Scenario& scenario) {
  Positions joined;
  if (value.between.empty()) {
    const Link* link = link_of(value, context, scenario);
    if (link != nullptr) {
      joined = {position_in(*context.lab, link->near.node),
                position_in(*context.lab, link->far.node)};
    }
    return joined;
  }
  for (const std::string& end : value.between) {
    const auto selector = parse_selector(end);
    if (selector) joined.merge(positions_of(*selector, Subject::kNode, context, scenario));
  }
  return joined;
}

const Link* link_of(const ParamValue& value, const Context& context, const Scenario& scenario) {
  if (context.lab == nullptr) return nullptr;
  const Lab& lab = *context.lab;
  if (value.between.empty()) {
    const auto found = std::ranges::find(lab.links, value.text, &Link::name);
    return found == lab.links.end() ? nullptr : &*found;
  }
  const Positions joined = joined_by(value, context, scenario);
  if (joined.size() != 2 || static_cast<std::size_t>(*joined.rbegin()) > lab.nodes.size()) {
    return nullptr;
  }
  const auto name = [&](int position) {
    return lab.nodes[static_cast<std::size_t>(position) - 1].name;
  };
  return link_between(lab, name(*joined.begin()), name(*joined.rbegin()));
}

}  // namespace unplug::scenario
