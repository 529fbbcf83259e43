// The readers of the four kinds of file: a Sheet's object becomes a model.
//
// Each says all that is wrong in its own file. What a scenario names in other files is checked
// while it is read, against whatever of them could be read (`Context`).
#pragma once

#include <map>
#include <string>

#include "scenario/injector.hpp"
#include "scenario/lab.hpp"
#include "scenario/reader.hpp"
#include "scenario/scenario.hpp"
#include "scenario/target.hpp"

namespace unplug::scenario {

using unplug::to_text;  // durations; this namespace has its own for selectors and platforms

Lab read_lab(Sheet& sheet, const Value& root);
Target read_target(Sheet& sheet, const Value& root);
Injector read_injector(Sheet& sheet, const Value& root);

// What a scenario is held against. Null: could not be read, or was not asked for; then nothing
// is said of what would need it.
struct Context {
  const Target* target = nullptr;
  const Lab* lab = nullptr;
  const std::map<std::string, Injector>* injectors = nullptr;  // of those it names
  std::vector<std::string> known_injectors;                    // names that can be found
  std::vector<std::string> known_targets;

  const Injector* injector(const std::string& name) const;
};

Scenario read_scenario(Sheet& sheet, const Value& root, const Context& context);

// --- pieces that several readers share --------------------------------------------------------

// "params" of a target or an injector: {"name": {"type": ..., "default": ..., "of": ...}}.
std::vector<Param> read_params(Sheet& sheet, const Value* params,
                               const std::vector<std::string>& types,
                               const std::vector<std::string>& reserved);

// A scalar of type text, integer, duration, bytes, boolean, signal or path as canonical text:
// "4s", "64MiB", "yes", "KILL".
bool read_scalar(Sheet& sheet, const Value& value, std::string_view key, const std::string& type,
                 std::string& into);

// An expression under "match" or the like; the number of its captures, or nothing when it is bad.
std::optional<int> read_expression(Sheet& sheet, const Value* value, std::string_view key,
                                   std::string& into);

// {"name": capture}, each from 1 to `groups`.
void read_captures(Sheet& sheet, const Value* value, std::optional<int> groups,
                   std::map<std::string, int>& into);

template <class T>
std::vector<std::string> names_of(const std::vector<T>& all) {
  std::vector<std::string> names;
  for (const T& one : all) names.push_back(one.name);
  return names;
}

// --- addresses (address.cpp) ---------------------------------------------------------------------

// "10.78.0.1/30", IPv4 or IPv6.
bool is_address_with_prefix(const std::string& text);
// Whether `address` (no prefix) lies in the subnet of `network` (with prefix).
bool in_subnet(const std::string& address, const std::string& network);

// The link end at this node and interface whose subnet holds the node's control address.
const LinkEnd* control_end(const Lab& lab, const std::string& node, const std::string& interface);

// --- the faults of a scenario among each other (fault_order.cpp) -------------------------------

// Cycles of "after" and "with", and faults that hold one thing at times that can overlap.
void check_order(Sheet& sheet, const Value& faults, const Scenario& scenario,
                 const Context& context);

}  // namespace unplug::scenario
