// A fault of the scenario on its way to instances: whom it may hit, and what its scripts are told.
#pragma once

#include <fmt/format.h>

#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "run/plan.hpp"

namespace unplug::run {

// A fault of the scenario on its way to instances.
struct Draft {
  const scenario::Bundle& bundle;
  const Plan& plan;
  const scenario::Fault& fault;
  const scenario::Injector& injector;

  [[noreturn]] void refuse(const std::string& what, const std::string& hint) const {
    throw Error(Exit::kUsage, fmt::format("fault \"{}\"", fault.id), what, hint);
  }
  const scenario::ParamValue* given(const std::string& name) const {
    const auto found = fault.params.find(name);
    return found == fault.params.end() ? nullptr : &found->second;
  }
};

// A chosen victim of a process parameter, or the node of a node parameter.
struct Choice {
  std::string param;
  std::optional<Victim> victim;
  std::string node;
  std::string seat;  // "worker-2", where a seat names the node
};

// What the instances of a fault differ in: its process, else its node, else nothing.
std::vector<Choice> choices_of(const Draft& draft);

// The link of a link parameter, its near end first.
scenario::Link link_of(const Draft& draft, const scenario::Param& param);

// "node 2" is the lab's second node; "worker 2" the node where that worker sits.
std::string node_named(const Draft& draft, const std::string& text);

// The seat that names a node: "server-1" of "server 1", none of "node 1".
std::string seat_named(const Draft& draft, const std::string& text);

// A role at its node with the VARS of its calls (docs/node-protocol.md).
RolePlan role_of(const Draft& draft, const scenario::Role& role, const Choice& choice);

// The VARS of a trigger that is armed on the node.
Vars trigger_vars_of(const Draft& draft, const scenario::When& when);

}  // namespace unplug::run
