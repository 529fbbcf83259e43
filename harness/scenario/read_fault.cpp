#include <fmt/format.h>

#include <algorithm>

#include "scenario/read_scenario.hpp"

namespace unplug::scenario {
namespace {

// A fault's folder stands among these in the run's folder on a node (docs/node-protocol.md).
const std::vector<std::string> kNotFaults = {"sh",   "injectors", "targets", "procs",
                                             "logs", "spool",     "lock"};

const Injector* read_injector_name(Sheet& sheet, const Value* value, const Context& context,
                                   Fault& fault) {
  if (value == nullptr || !sheet.read(*value, "inject", fault.injector)) return nullptr;
  const auto& known = context.known_injectors;
  if (std::ranges::find(known, fault.injector) == known.end()) {
    sheet.unknown(value->position, "injector", fault.injector, known);
    return nullptr;
  }
  // The embedded lab is ours to break: whatever can be found may be used, a stranger's too.
  if (context.lab != nullptr && !context.lab->embedded) {
    const auto& allowed = context.lab->allow;
    if (std::ranges::find(allowed, fault.injector) == allowed.end()) {
      sheet.complain(
          *value,
          fmt::format("lab \"{}\" does not allow \"{}\"", context.lab->name, fault.injector),
          allowed.empty() ? "it allows nothing" : "it allows " + listed(allowed));
    }
  }
  return context.injector(fault.injector);
}

void check_hold(Sheet& sheet, const Value& value, const Context& context, Duration hold) {
  if (hold <= Duration::zero()) {
    sheet.complain(value, "\"for\" is no time at all", "write how long, such as \"8s\"");
  }
  if (context.lab == nullptr || hold <= context.lab->limits.longest_fault) return;
  sheet.complain(
      value, fmt::format("{} is longer than lab \"{}\" allows", to_text(hold), context.lab->name),
      fmt::format("write {} or less", to_text(context.lab->limits.longest_fault)));
}

void read_hold(Sheet& sheet, Object& object, const Injector* injector, const Context& context,
               Fault& fault) {
  const Value* value = object.find("for");
  if (value != nullptr && sheet.read(*value, "for", fault.hold)) {
    check_hold(sheet, *value, context, *fault.hold);
  }
  if (injector == nullptr) return;
  if (injector->lasting && value != nullptr) {
    sheet.complain(*value, fmt::format("\"{}\" is lasting and cannot be held", injector->name),
                   "leave \"for\" out");
  }
  if (!injector->lasting && value == nullptr) {
    sheet.complain(object.position(), "this fault does not say for how long",
                   "write \"for\": \"8s\"");
  }
}

// Steps for a trigger that counts, else a time.
void read_tolerance(Sheet& sheet, const Value* value, Fault& fault) {
  if (value == nullptr) return;
  if (value->kind == Value::Kind::kString) {
    sheet.read(*value, "tolerance", fault.tolerance_time);
    return;
  }
  if (!sheet.read(*value, "tolerance", fault.tolerance_steps)) return;
  const auto* when = std::get_if<When>(&fault.trigger);
  if (when != nullptr && !when->numbers.empty()) return;
  sheet.complain(*value, "\"tolerance\" in steps needs a \"when\" with a number",
                 "write a time, such as \"1s\"");
}

void read_id(Sheet& sheet, const Value* value, const Scenario& scenario, Fault& fault) {
  if (value == nullptr || !sheet.read(*value, "id", fault.id)) return;
  if (!sheet.good_name(value->position, "fault", fault.id, kNotFaults)) return;
  if (std::ranges::find(scenario.faults, fault.id, &Fault::id) != scenario.faults.end()) {
    sheet.complain(*value, fmt::format("there are two faults \"{}\"", fault.id),
                   "give each its own id");
  }
}

Fault read_fault(Sheet& sheet, const Value& value, const Context& context,
                 const Scenario& scenario) {
  Fault fault;
  Object object(sheet, value, "fault");
  object.remarks();
  read_id(sheet, object.need("id", "\"drop\""), scenario, fault);
  const Value* inject = object.need("inject", "\"link_drop\"");
  const Injector* injector = read_injector_name(sheet, inject, context, fault);
  read_trigger(sheet, object, context, scenario, fault);
  read_hold(sheet, object, injector, context, fault);
  read_tolerance(sheet, object.find("tolerance"), fault);
  if (const Value* skew = object.find("skew")) sheet.read(*skew, "skew", fault.skew);
  if (injector != nullptr) {
    read_fault_params(sheet, object, *injector, context, scenario, fault);
  } else {
    object.rest();  // whose parameters they are is not known
  }
  return fault;
}

}  // namespace

void read_faults(Sheet& sheet, const Value* list, const Context& context, Scenario& scenario) {
  if (list == nullptr || !sheet.is_list(*list, "faults")) return;
  for (const Value& value : list->items) {
    Fault fault = read_fault(sheet, value, context, scenario);
    scenario.faults.push_back(std::move(fault));
  }
}

}  // namespace unplug::scenario
