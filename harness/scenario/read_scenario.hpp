// The parts of the scenario's reader; read_scenario.cpp calls them in this order.
#pragma once

#include <optional>
#include <set>
#include <string>

#include "scenario/read.hpp"

namespace unplug::scenario {

// Where in the lab: `scenario.place` says it for every seat. Positions count from 1.
using Positions = std::set<int>;

enum class Subject { kPart, kNode, kPlace };  // what the word of a selector must be

// "worker 2", "all worker", ... held against the target and the places that the scenario binds.
std::optional<Selector> read_selector(Sheet& sheet, const Value& value, std::string_view key,
                                      Subject subject, const Context& context,
                                      const Scenario& scenario);
// The place a selector's seats are of, or "" for "node 1".
std::string place_of(const Selector& selector, Subject subject, const Context& context);
// The nodes it may mean ("any": all that could be drawn); what is unknown is left out.
Positions positions_of(const Selector& selector, Subject subject, const Context& context,
                       const Scenario& scenario);

// The link a fault's parameter means in the lab: by name, or by what it joins. Null: none.
const Link* link_of(const ParamValue& value, const Context& context, const Scenario& scenario);
// The nodes a link parameter joins; empty when that cannot be told without the lab.
Positions joined_by(const ParamValue& value, const Context& context, const Scenario& scenario);

// One fault's parameters, by the types its injector declares.
void read_fault_params(Sheet& sheet, Object& object, const Injector& injector,
                       const Context& context, const Scenario& scenario, Fault& fault);

void read_trigger(Sheet& sheet, Object& object, const Context& context, const Scenario& scenario,
                  Fault& fault);

void read_faults(Sheet& sheet, const Value* list, const Context& context, Scenario& scenario);

// What an expectation says, held against the faults and the target; fills in defaults.
void check_meaning(Sheet& sheet, const Value& value, const Context& context,
                   const Scenario& scenario, Expectation& expect);

void read_expectations(Sheet& sheet, const Value* list, const Context& context, Scenario& scenario);

}  // namespace unplug::scenario
