#include "check/fault_records.hpp"

#include <utility>

#include "check/fields.hpp"
#include "check/history.hpp"

namespace unplug::check {
namespace {

using journal::Event;
using journal::Json;

// What `heal` brings from a node knows the node, not the role.
std::string role_of(const FaultRecord& fault, const Event& event) {
  const std::string role = text_of(event.data, "role");
  if (!role.empty()) return role;
  for (const auto& [name, where] : fault.roles) {
    if (where.acts && where.node == event.node) return name;
  }
  return "";
}

void plan_role(FaultRecord& fault, const Event& event, const std::string& role) {
  const Json& data = event.data;
  fault.roles[role] = {event.node, flag_of(data, "acts", true)};
  fault.lasting = fault.lasting || flag_of(data, "lasting", false);
  if (!fault.hold) fault.hold = integer_of(data, "hold_ns");
  if (!fault.drawn) fault.drawn = integer_of(data, "drawn_ns");
  if (fault.trigger.empty()) fault.trigger = text_of(data, "trigger");
}

void take_victim(FaultRecord& fault, const Event& event) {
  const Json* victim = field(event.data, "victim");
  if (victim == nullptr) return;
  if (!text_of(*victim, "part").empty()) fault.victim.part = text_of(*victim, "part");
  if (!text_of(*victim, "seat").empty()) fault.victim.seat = text_of(*victim, "seat");
  if (const auto pid = integer_of(*victim, "pid")) fault.victim.pid = pid;
  if (const auto start = integer_of(*victim, "start")) fault.victim.start = start;
}

std::string node_of_victim(const FaultRecord& fault, const History& history) {
  const auto seat = history.seats.find(fault.victim.seat);
  if (seat != history.seats.end()) return seat->second;
  for (const auto& [name, role] : fault.roles) {
    if (role.acts) return role.node;
  }
  return "";
}

// What the scenario and the injector say of a fault beside its events.
FaultRules rules_of(FaultRecord& fault, const History& history, const Case& c) {
  FaultRules rules;
  for (const scenario::Fault& planned : c.scenario->faults) {
    if (planned.id == fault.id) rules.fault = &planned;
  }
  if (rules.fault != nullptr) {
    for (const char* name : {"model", "package"}) {
      const auto param = rules.fault->params.find(name);
      if (param != rules.fault->params.end()) fault.subject = param->second.text;
    }
  }
  if (c.injectors != nullptr) {
    const auto injector = c.injectors->find(fault.injector);
    if (injector != c.injectors->end()) {
      rules.verify_every = injector->second.verify_every.count();
      fault.cuts = injector->second.cuts;
    }
  }
  rules.started = history.started();
  rules.closed = history.closed.has_value();
  return rules;
}

}  // namespace

FaultRecord& FaultRecords::record(const std::string& instance) {
  for (FaultRecord& fault : all_) {
    if (fault.instance == instance) return fault;
  }
  all_.emplace_back();
  all_.back().instance = instance;
  return all_.back();
}

void FaultRecords::add_fault(const Event& event, Span when) {
  const Json& data = event.data;
  FaultRecord& fault = record(text_of(data, "instance"));
  const std::string state = text_of(data, "state");
  const std::string role = role_of(fault, event);
  if (fault.id.empty()) fault.id = text_of(data, "id");
  if (fault.injector.empty()) fault.injector = text_of(data, "injector");
  if (state == "planned") plan_role(fault, event, role);
  take_victim(fault, event);
  if (state == "fired" && !fault.asked) {
    fault.asked = number_of(data, "asked");
    fault.reached = number_of(data, "reached");
  }
  fault.states.push_back({event.seq, role, event.node, state,
                          event.src == "heal" ? "heal" : text_of(data, "by"), text_of(data, "why"),
                          text_of(data, "by_hand"), when});
}

void FaultRecords::add_proof(const Event& event, Span when) {
  FaultRecord& fault = record(text_of(event.data, "fault"));
  fault.proofs.push_back({event.seq, text_of(event.data, "role"), event.node,
                          text_of(event.data, "says"), text_of(event.data, "of") != "reverted",
                          when, flag_of(event.data, "afterwards", false)});
}

std::vector<FaultRecord> FaultRecords::settled(const History& history, const Case& c) {
  for (FaultRecord& fault : all_) {
    const FaultRules rules = rules_of(fault, history, c);
    fault.node = node_of_victim(fault, history);
    settle(fault, rules);
  }
  return std::exchange(all_, {});
}

}  // namespace unplug::check
