// What the scripts of a fault are told: docs/node-protocol.md, VARS of an injector.
#include <algorithm>

#include "run/plan_draft.hpp"
#include "run/plan_faults.hpp"

namespace unplug::run {
namespace {

using scenario::Param;
using scenario::ParamValue;
using scenario::Role;
using scenario::Seat;

std::string scratch_of(const Draft& draft, const std::string& node) {
  const scenario::LabNode* lab_node = draft.bundle.lab.node(node);
  return lab_node == nullptr ? "" : lab_node->scratch;
}

std::string path_on(const Draft& draft, const std::string& path, const std::string& node) {
  const std::string scratch = scratch_of(draft, node);
  if (draft.bundle.lab.node(node) == nullptr) return path;  // the controller has none
  if (scratch.empty() && path.find("$SCRATCH") != std::string::npos) {
    draft.refuse(fmt::format("\"{}\" is nowhere on {}", path, node),
                 "name its bounded volume as \"scratch\" in the lab file");
  }
  return resolved(path, scratch, "");
}

void add_process_vars(Vars& vars, const Draft& draft, const Param& param, const Victim& victim) {
  const std::string name = "UNPLUG_" + upper(param.name);
  const scenario::Part& part = *draft.bundle.target.part(victim.part);
  vars.emplace_back(name + "_PART", victim.part);
  vars.emplace_back(name + "_SEAT", victim.seat.id());
  vars.emplace_back(name + "_FOUND", part.child_of.empty()
                                         ? "record"
                                         : "child " + part.child_of + " " + part.command);
}

void add_link_vars(Vars& vars, const Param& param, const scenario::Link& link, bool is_far) {
  const std::string name = "UNPLUG_" + upper(param.name);
  const auto& own = is_far ? link.far : link.near;
  const auto& peer = is_far ? link.near : link.far;
  vars.emplace_back(name + "_INTERFACE", own.interface);
  vars.emplace_back(name + "_ADDRESS", own.address);
  vars.emplace_back(name + "_PEER", peer.address);
}

// The file as the node has it, and the list of its hashes, which is uploaded with the target.
void add_model_vars(Vars& vars, const Draft& draft, const Param& param, const std::string& node) {
  const auto& models = draft.bundle.target.models;
  const std::string& wanted = draft.given(param.name)->text;
  const auto found = std::ranges::find(models, wanted, &scenario::Model::name);
  if (found == models.end()) {
    draft.refuse(fmt::format("the target has no model \"{}\"", wanted), "see its \"models\"");
  }
  const std::string name = "UNPLUG_" + upper(param.name);
  vars.emplace_back(name, path_on(draft, found->path, node));
  vars.emplace_back(name + "_MANIFEST",
                    fmt::format("targets/{}/{}", draft.bundle.target.name, found->manifest));
}

// SAFETY: an injector that needs no root gets none: with sudo its whole guard would run as root.
std::string root_by(const Draft& draft, const std::string& node) {
  const scenario::LabNode* lab_node = draft.bundle.lab.node(node);
  if (lab_node == nullptr || lab_node->root == scenario::Root::kNone) return "none";
  if (lab_node->root == scenario::Root::kAlready) return "already";
  const auto needs = draft.injector.platforms.find(lab_node->platform);
  return needs != draft.injector.platforms.end() && needs->second.root ? "sudo" : "none";
}

// Which node it is to the others: its seat, where one names it, and the way SSH takes to it.
void add_node_vars(Vars& vars, const Draft& draft, const Param& param, const Choice& choice) {
  const ParamValue* value = draft.given(param.name);
  if (value == nullptr) return;
  const bool chosen = param.name == choice.param;
  const std::string name = "UNPLUG_" + upper(param.name);
  const std::string seat = chosen ? choice.seat : seat_named(draft, value->text);
  const scenario::LabNode* node =
      draft.bundle.lab.node(chosen ? choice.node : node_named(draft, value->text));
  if (!seat.empty()) vars.emplace_back(name + "_SEAT", seat);
  vars.emplace_back(name + "_ADDRESS", node->address);
  vars.emplace_back(name + "_PORT", std::to_string(node->port.value_or(22)));
}

std::string node_of_role(const Draft& draft, const Role& role, const Choice& choice) {
  if (role.at == "controller") return kController;
  const std::string param_name = role.at.substr(0, role.at.find('.'));
  const Param* param = draft.injector.param(param_name);
  if (param == nullptr) draft.refuse("role \"" + role.name + "\" is at nothing", role.at);
  if (param->type == "link") {
    const scenario::Link link = link_of(draft, *param);
    return role.at.ends_with(".far") ? link.far.node : link.near.node;
  }
  if (param_name == choice.param) return choice.node;
  return node_named(draft, draft.given(param_name)->text);
}

}  // namespace

std::string upper(std::string_view name) {
  std::string text(name);
  for (char& c : text) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return text;
}

std::string for_script(const Param& param, const std::string& value) {
  if (param.type == "duration") {
    if (const auto d = parse_duration(value)) return to_seconds(*d);
  } else if (param.type == "bytes") {
    if (const auto n = parse_bytes(value)) return std::to_string(*n);
  } else if (param.type == "boolean") {
    return value == "true" || value == "yes" ? "yes" : "no";
  }
  return value;
}

RolePlan role_of(const Draft& draft, const Role& role, const Choice& choice) {
  RolePlan planned{role.name, node_of_role(draft, role, choice), role.acts, {}};
  for (const Param& param : draft.injector.params) {
    if (param.type == "process") {
      add_process_vars(planned.vars, draft, param, *choice.victim);
    } else if (param.type == "link") {
      add_link_vars(planned.vars, param, link_of(draft, param), role.at.ends_with(".far"));
    } else if (param.type == "model") {
      add_model_vars(planned.vars, draft, param, planned.node);
    } else if (param.type == "node") {
      add_node_vars(planned.vars, draft, param, choice);
    } else {
      const ParamValue* value = draft.given(param.name);
      std::string text = value ? value->text : param.fallback.value_or("");
      if (param.type == "path") text = path_on(draft, text, planned.node);
      planned.vars.emplace_back("UNPLUG_" + upper(param.name), for_script(param, text));
    }
  }
  // What ends by itself must know when: the guard cannot tell it in time.
  if (draft.fault.hold) planned.vars.emplace_back("UNPLUG_HOLD", to_seconds(*draft.fault.hold));
  const std::string scratch = scratch_of(draft, planned.node);
  if (!scratch.empty()) planned.vars.emplace_back("UNPLUG_SCRATCH", scratch);
  planned.vars.emplace_back("UNPLUG_ROOT_BY", root_by(draft, planned.node));
  return planned;
}

Vars trigger_vars_of(const Draft& draft, const scenario::When& when) {
  const scenario::EventPattern& event = *draft.bundle.target.event(when.event);
  const scenario::Log& log = *draft.bundle.target.log(event.log);
  const Seat seat{log.place, when.from->number};
  const std::string& scratch = draft.bundle.lab.node(draft.plan.node_of(seat))->scratch;
  std::string fields;
  const auto add = [&](const std::string& field, const char* op, const std::string& value) {
    fields += fmt::format("{}{}={}:{}:{}", fields.empty() ? "" : " ", field, event.fields.at(field),
                          op, value);
  };
  for (const auto& [field, value] : when.fields) add(field, "eq", value);
  for (const auto& [field, value] : when.numbers) add(field, "ge", fmt::format("{:g}", value));
  return {{"UNPLUG_WHEN_LOG", resolved(log.path, scratch, seat.id())},
          {"UNPLUG_WHEN_MATCH", event.match},
          {"UNPLUG_WHEN_FIELDS", fields},
          {"UNPLUG_WHEN_NTH", std::to_string(when.nth)},
          {"UNPLUG_WHEN_PLUS", to_seconds(when.plus)}};
}

}  // namespace unplug::run
