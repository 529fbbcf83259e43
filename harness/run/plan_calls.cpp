// Every script call that a run may make: what `unplug plan` prints and a run is held to.
#include <fmt/format.h>

#include "run/plan.hpp"

namespace unplug::run {
namespace {

using Calls = std::vector<PlannedCall>;

void add_target(Calls& calls, const scenario::Bundle& bundle, const Plan& plan,
                const std::string& phase, const std::string& verb, const std::string& when = {},
                const std::vector<std::string>& args = {}) {
  for (const auto& group : target_calls(bundle, plan, verb, args)) {
    for (const Call& call : group) calls.push_back({phase, when, call});
  }
}

void add_roles(Calls& calls, const Plan& plan, const std::string& phase, const std::string& verb) {
  for (const FaultPlan& fault : plan.faults) {
    for (const RolePlan& role : fault.roles) calls.push_back({phase, {}, fault.call(role, verb)});
  }
}

void add_faults(Calls& calls, const Plan& plan) {
  for (const FaultPlan& fault : plan.faults) {
    calls.push_back({"run", {}, fault.arm_call()});
    calls.push_back({"run", {}, fault.guard_call()});
    for (const RolePlan& role : fault.roles) {
      calls.push_back({"run", {}, fault.call(role, "verify")});
      if (!fault.lasting) calls.push_back({"run", {}, fault.call(role, "verify_reverted")});
    }
  }
}

constexpr std::chrono::seconds kCommand{60};

bool compares_frames(const scenario::Scenario& scenario) {
  for (const auto& expectation : scenario.expect) {
    if (expectation.check == "output" && expectation.compare == "frames") return true;
  }
  return false;
}

}  // namespace

std::vector<Call> command_calls(const scenario::Bundle& bundle, const Plan& plan) {
  std::vector<Call> calls;
  const auto& expect = bundle.scenario.expect;
  for (std::size_t i = 0; i < expect.size(); ++i) {
    if (expect[i].check != "command") continue;
    Call call;
    call.node = node_named(bundle.lab, plan, *expect[i].node);
    call.name = std::to_string(i);
    call.verb = "command";
    call.within = expect[i].within.value_or(kCommand);
    call.own = expect[i].run;
    calls.push_back(std::move(call));
  }
  return calls;
}

std::vector<PlannedCall> planned_calls(const scenario::Bundle& bundle, const Plan& plan) {
  Calls calls;
  add_roles(calls, plan, "preflight", "probe");
  for (const char* verb : {"deploy", "start", "ready"}) {
    add_target(calls, bundle, plan, verb == std::string("deploy") ? "deploy" : "start", verb);
  }
  add_target(calls, bundle, plan, "run", bundle.scenario.workload.verb, {},
             bundle.scenario.workload.args);
  add_faults(calls, plan);
  for (const std::string& verb : bundle.target.recover) {
    add_target(calls, bundle, plan, "recover", verb, "the target has not finished by then");
  }
  if (compares_frames(bundle.scenario)) {
    add_target(calls, bundle, plan, "capture", "frames", {}, {"<captured: output>"});
  }
  for (const Call& call : command_calls(bundle, plan)) calls.push_back({"capture", {}, call});
  add_target(calls, bundle, plan, "stop", "stop");
  add_target(calls, bundle, plan, "stop", "remove");
  return calls;
}

}  // namespace unplug::run
