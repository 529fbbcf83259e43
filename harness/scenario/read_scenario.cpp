#include "scenario/read_scenario.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/suggest.hpp"

namespace unplug::scenario {
namespace {

void read_target_name(Sheet& sheet, const Value* value, const Context& context,
                      Scenario& scenario) {
  if (value == nullptr || !sheet.read(*value, "target", scenario.target)) return;
  const auto& known = context.known_targets;
  if (std::ranges::find(known, scenario.target) == known.end()) {
    sheet.unknown(value->position, "target", scenario.target, known);
  }
}

void check_count(Sheet& sheet, const Value& list, const TargetPlace& place, std::size_t count) {
  const auto least = static_cast<std::size_t>(place.least);
  if (count < least) {
    sheet.complain(list, fmt::format("place \"{}\" has {} of {}", place.name, count, least),
                   "name more nodes by their position in the lab");
  }
  if (place.most && count > static_cast<std::size_t>(*place.most)) {
    sheet.complain(
        list,
        fmt::format("place \"{}\" has {}, and at most {} may be", place.name, count, *place.most),
        "name fewer nodes");
  }
}

void check_positions(Sheet& sheet, const Value& list, const std::vector<int>& positions,
                     const Lab* lab) {
  for (std::size_t i = 0; i < positions.size() && i < list.items.size(); ++i) {
    if (list.items[i].kind != Value::Kind::kInteger) continue;
    const int position = positions[i];
    if (position < 1) {
      sheet.complain(list.items[i], fmt::format("there is no node {}", position),
                     "positions count from 1");
    } else if (lab != nullptr && static_cast<std::size_t>(position) > lab->nodes.size()) {
      sheet.complain(list.items[i], fmt::format("there is no node {}", position),
                     fmt::format("lab \"{}\" has {}", lab->name, lab->nodes.size()));
    }
  }
}

void read_place(Sheet& sheet, const Value* map, const Context& context, Scenario& scenario) {
  if (map == nullptr || !sheet.is_object(*map, "place")) return;
  const Target* target = context.target;
  std::vector<std::string> strange;
  for (const Value::Member& member : map->members) {
    const TargetPlace* place = target == nullptr ? nullptr : target->place(member.key);
    if (target != nullptr && place == nullptr) {
      strange.push_back(member.key);
      sheet.unknown(member.position, "place", member.key, names_of(target->places));
    }
    std::vector<int>& positions = scenario.place[member.key];
    positions.clear();
    if (!sheet.read(member.value, member.key, positions)) continue;
    check_positions(sheet, member.value, positions, context.lab);
    if (place != nullptr) check_count(sheet, member.value, *place, positions.size());
  }
  if (target == nullptr) return;
  for (const TargetPlace& place : target->places) {
    if (map->find(place.name) != nullptr || nearest(place.name, strange)) continue;
    sheet.complain(*map, fmt::format("place \"{}\" is bound to no node", place.name),
                   fmt::format("write \"{}\": [1]", place.name));
  }
}

void read_target_params(Sheet& sheet, const Value* map, const Target* target, Scenario& scenario) {
  if (map != nullptr && !sheet.is_object(*map, "params")) return;
  if (target == nullptr) return;
  for (const Param& param : target->params) {
    if (param.fallback) scenario.params[param.name] = *param.fallback;
  }
  if (map == nullptr) return;
  for (const Value::Member& member : map->members) {
    const auto param = std::ranges::find(target->params, member.key, &Param::name);
    if (param == target->params.end()) {
      sheet.unknown(member.position, "parameter", member.key, names_of(target->params));
    } else {
      read_scalar(sheet, member.value, member.key, param->type, scenario.params[member.key]);
    }
  }
}

void check_target_params(Sheet& sheet, Position where, const Target* target,
                         const Scenario& scenario) {
  if (target == nullptr) return;
  for (const Param& param : target->params) {
    if (scenario.params.contains(param.name)) continue;
    sheet.complain(
        where, fmt::format("target \"{}\" needs the parameter \"{}\"", target->name, param.name),
        fmt::format("write it in \"params\" (type {})", param.type));
  }
}

void read_workload(Sheet& sheet, const Value* value, const Target* target, Workload& workload) {
  if (value == nullptr) return;
  Object object(sheet, *value, "workload");
  object.remarks();
  object.may("args", workload.args);
  const Value* verb = object.need("verb", "\"enqueue\"");
  if (verb == nullptr || !sheet.read(*verb, "verb", workload.verb)) return;
  if (target != nullptr && target->verb(workload.verb) == nullptr) {
    sheet.unknown(verb->position, "verb", workload.verb, names_of(target->verbs));
  }
}

void read_limits(Sheet& sheet, const Value* value, Scenario& scenario) {
  if (value == nullptr) return;
  Object object(sheet, *value, "limits");
  object.remarks();
  object.may("settle", scenario.settle);
  const Value* run = object.find("run");
  if (run != nullptr && sheet.read(*run, "run", scenario.run_limit) &&
      scenario.run_limit <= Duration::zero()) {
    sheet.complain(*run, "\"run\" is no time at all", "write \"60s\"");
  }
}

// Nodes that carry a folder in $SCRATCH need a volume for it.
void check_scratch(Sheet& sheet, const Value* place, const Context& context,
                   const Scenario& scenario) {
  if (place == nullptr || context.target == nullptr || context.lab == nullptr) return;
  Positions told;
  for (const Folder& folder : context.target->folders) {
    const auto bound = scenario.place.find(folder.place);
    if (bound == scenario.place.end() || !folder.path.starts_with("$SCRATCH")) continue;
    for (const int position : bound->second) {
      const auto i = static_cast<std::size_t>(position) - 1;
      if (i >= context.lab->nodes.size() || !context.lab->nodes[i].scratch.empty()) continue;
      if (!told.insert(position).second) continue;
      sheet.complain(*place,
                     fmt::format("node \"{}\" has no scratch volume, and folder \"{}\" "
                                 "of the target is in $SCRATCH",
                                 context.lab->nodes[i].name, folder.name),
                     "write \"scratch\" at that node in the lab file");
    }
  }
}

}  // namespace

const Injector* Context::injector(const std::string& name) const {
  if (injectors == nullptr) return nullptr;
  const auto found = injectors->find(name);
  return found == injectors->end() ? nullptr : &found->second;
}

Scenario read_scenario(Sheet& sheet, const Value& root, const Context& context) {
  Scenario scenario;
  Object object(sheet, root, "scenario");
  scenario.asks = object.file_remarks().asks;
  const Value* name = object.need("scenario", "\"worker-killed\"");
  if (name != nullptr && sheet.read(*name, "scenario", scenario.name)) {
    sheet.good_name(name->position, "scenario", scenario.name);
  }
  read_target_name(sheet, object.need("target", "\"farm\""), context, scenario);
  const Value* place = object.need("place", R"({"server": [1], "worker": [1, 2]})");
  read_place(sheet, place, context, scenario);
  check_scratch(sheet, place, context, scenario);
  const Value* params = object.find("params");
  read_target_params(sheet, params, context.target, scenario);
  check_target_params(sheet, params == nullptr ? root.position : params->position, context.target,
                      scenario);
  read_workload(sheet, object.need("workload", R"({"verb": "enqueue", "args": []})"),
                context.target, scenario.workload);
  read_limits(sheet, object.find("limits"), scenario);
  object.may("seed", scenario.seed);
  const Value* faults = object.need("faults", "[]");
  read_faults(sheet, faults, context, scenario);
  read_expectations(sheet, object.need("expect", R"([{"check": "cleanup"}])"), context, scenario);
  if (faults != nullptr) check_order(sheet, *faults, scenario, context);
  return scenario;
}

}  // namespace unplug::scenario
