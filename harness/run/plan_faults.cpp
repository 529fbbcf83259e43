#include "run/plan_faults.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/sha256.hpp"
#include "run/plan_draft.hpp"
#include "run/plan_overlap.hpp"
#include "run/plan_trigger.hpp"

namespace unplug::run {
namespace {

using scenario::Bundle;
using scenario::Role;
using scenario::Seat;
using scenario::Selector;

std::optional<Duration> drawn_of(const Draft& draft) {
  const auto* between = std::get_if<scenario::Between>(&draft.fault.trigger);
  if (between == nullptr) return std::nullopt;
  const auto width = static_cast<std::uint64_t>((between->latest - between->earliest).count()) + 1;
  const std::uint64_t offset = draw(draft.plan.seed, draft.fault.id + "/between") % width;
  return between->earliest + Duration{static_cast<std::int64_t>(offset)};
}

// The seats that `from` can mean; empty = any.
bool only_from_node(const Draft& draft, const scenario::When& when, const std::string& node) {
  const scenario::EventPattern* event = draft.bundle.target.event(when.event);
  if (event == nullptr || !when.from || when.from->pick != Selector::Pick::kOne) return false;
  const scenario::Log* log = draft.bundle.target.log(event->log);
  const SeatPlan* seat = draft.plan.seat(Seat{log->place, when.from->number}.id());
  return seat != nullptr && seat->node == node;
}

// A process, an interface, or else the whole node.
std::string thing_of(const FaultPlan& fault) {
  if (fault.victim) return fault.victim->part + "@" + fault.victim->seat.id();
  const RolePlan& actor = fault.actor();
  const auto interface = std::ranges::find_if(
      actor.vars, [](const auto& v) { return v.first.ends_with("_INTERFACE"); });
  return interface == actor.vars.end() ? actor.node : actor.node + "/" + interface->second;
}

FaultPlan instance_of(const Draft& draft, const Choice& choice, bool alone) {
  FaultPlan planned;
  planned.id = draft.fault.id;
  planned.instance = draft.fault.id;
  if (!alone) planned.instance += "." + (choice.victim ? choice.victim->seat.id() : choice.node);
  planned.injector = draft.injector.name;
  planned.victim = choice.victim;
  planned.seat = choice.seat;
  planned.trigger = draft.fault.trigger;
  planned.moment = moment_of(draft.fault.trigger);
  planned.trigger_text = trigger_text(draft.fault.trigger);
  planned.drawn = drawn_of(draft);
  planned.lasting = draft.injector.lasting;
  planned.cuts = draft.injector.cuts;
  planned.survives_reboot = draft.injector.survives_reboot;
  planned.hold = draft.fault.hold.value_or(Duration{0});
  planned.verify_every = draft.injector.verify_every;
  for (const Role& role : draft.injector.roles) {
    planned.roles.push_back(role_of(draft, role, choice));
  }
  const std::string& actor_node = planned.actor().node;
  const auto is_there = [&](const RolePlan& role) { return role.node == actor_node; };
  if (planned.cuts_off() && !planned.lasting && std::ranges::all_of(planned.roles, is_there)) {
    draft.refuse("nobody but " + actor_node + " itself would see it cut off",
                 "name another node as its witness");
  }
  const scenario::LabNode* node = draft.bundle.lab.node(actor_node);
  const auto platform = node ? node->platform : scenario::Platform::kLinux;
  const auto needs = draft.injector.platforms.find(platform);
  if (needs == draft.injector.platforms.end()) {
    draft.refuse(draft.injector.name + " does not work on " + scenario::to_text(platform),
                 "see `unplug list injectors`");
  }
  planned.undo_settle = needs->second.undo_settle;
  planned.thing = thing_of(planned);
  const auto* when = std::get_if<scenario::When>(&draft.fault.trigger);
  if (when != nullptr && only_from_node(draft, *when, actor_node)) {
    planned.armed_on_node = true;
    planned.trigger_vars = trigger_vars_of(draft, *when);
  }
  return planned;
}

// On a node that some fault cuts off nobody can renew: every lease there covers its hold.
void set_leases(std::vector<FaultPlan>& faults, const scenario::LabLimits& limits) {
  std::set<std::string> cut_off;
  for (const FaultPlan& fault : faults) {
    if (fault.cuts_off()) cut_off.insert(fault.actor().node);
  }
  for (FaultPlan& fault : faults) {
    fault.lease = limits.fault_lease;
    if (cut_off.contains(fault.actor().node)) {
      fault.lease = std::max(fault.lease, fault.hold + limits.margin);
    }
    fault.hard = fault.hold + limits.margin + fault.lease;
  }
}

}  // namespace

std::uint64_t draw(std::uint64_t seed, std::string_view what) {
  const std::string hex = sha256(fmt::format("{}/{}", seed, what)).substr(0, 16);
  return std::stoull(hex, nullptr, 16);
}

std::vector<FaultPlan> plan_faults(const Bundle& bundle, const Plan& so_far) {
  std::vector<FaultPlan> planned;
  for (const scenario::Fault& fault : bundle.scenario.faults) {
    const Draft draft{bundle, so_far, fault, bundle.injectors.at(fault.injector)};
    const std::vector<Choice> choices = choices_of(draft);
    for (const Choice& choice : choices) {
      planned.push_back(instance_of(draft, choice, choices.size() == 1));
    }
  }
  set_leases(planned, bundle.lab.limits);
  refuse_overlaps(planned);
  return planned;
}

Call FaultPlan::call(const RolePlan& role, const std::string& verb) const {
  Vars vars = {{"UNPLUG_FAULT", instance}, {"UNPLUG_ROLE", role.role}};
  vars.insert(vars.end(), role.vars.begin(), role.vars.end());
  return {role.node, injector, verb, std::move(vars), {}, std::chrono::seconds{10}, {}};
}

Call FaultPlan::arm_call() const {
  Call arm = call(actor(), "arm");
  arm.vars.emplace_back("UNPLUG_UNDO_SETTLE", to_seconds(undo_settle));
  return arm;
}

Call FaultPlan::guard_call() const {
  Call guard = call(actor(), "guard");
  guard.vars.emplace_back("UNPLUG_LEASE", to_seconds(lease));
  guard.vars.emplace_back("UNPLUG_HARD", to_seconds(hard));
  guard.vars.insert(guard.vars.end(), trigger_vars.begin(), trigger_vars.end());
  return guard;
}

bool FaultPlan::cuts_off() const {
  return cuts == scenario::Cuts::kControl || cuts == scenario::Cuts::kNode;
}

const RolePlan& FaultPlan::actor() const {
  const auto found = std::ranges::find_if(roles, &RolePlan::acts);
  return found == roles.end() ? roles.front() : *found;
}

}  // namespace unplug::run
