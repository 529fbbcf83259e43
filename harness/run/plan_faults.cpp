#include "run/plan_faults.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/error.hpp"
#include "base/sha256.hpp"
#include "run/plan_overlap.hpp"
#include "run/plan_trigger.hpp"

namespace unplug::run {
namespace {

using scenario::Bundle;
using scenario::Param;
using scenario::ParamValue;
using scenario::Role;
using scenario::Seat;
using scenario::Selector;

// A fault of the scenario on its way to instances.
struct Draft {
  const Bundle& bundle;
  const Plan& plan;
  const scenario::Fault& fault;
  const scenario::Injector& injector;

  [[noreturn]] void refuse(const std::string& what, const std::string& hint) const {
    throw Error(Exit::kUsage, fmt::format("fault \"{}\"", fault.id), what, hint);
  }
  const ParamValue* given(const std::string& name) const {
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

std::vector<Seat> seats_of_place(const Plan& plan, const std::string& place) {
  std::vector<Seat> seats;
  for (const SeatPlan& s : plan.seats) {
    if (s.seat.place == place) seats.push_back(s.seat);
  }
  return seats;
}

std::vector<Seat> picked(const Draft& draft, const Selector& selector, const std::string& place) {
  std::vector<Seat> seats = seats_of_place(draft.plan, place);
  if (selector.pick == Selector::Pick::kAll) return seats;
  if (selector.pick == Selector::Pick::kAny) {
    if (seats.empty()) draft.refuse("there is no " + place, "bind it under \"place\"");
    return {seats[draw(draft.plan.seed, draft.fault.id + "/any") % seats.size()]};
  }
  const Seat one{place, selector.number};
  draft.plan.node_of(one);
  return {one};
}

Selector selector_of(const Draft& draft, const std::string& text) {
  const auto selector = scenario::parse_selector(text);
  if (!selector) draft.refuse("\"" + text + "\" names nothing", "write for example \"worker 2\"");
  return *selector;
}

std::vector<Choice> process_choices(const Draft& draft, const Param& param) {
  const ParamValue* value = draft.given(param.name);
  if (value == nullptr)
    draft.refuse("it needs \"" + param.name + "\"", "name a part: \"worker 2\"");
  const Selector selector = selector_of(draft, value->text);
  const scenario::Part* part = draft.bundle.target.part(selector.word);
  if (part == nullptr) draft.refuse("no part is called \"" + selector.word + "\"", "");
  std::vector<Choice> choices;
  for (const Seat& seat : picked(draft, selector, part->place)) {
    choices.push_back({param.name, Victim{part->name, seat}, draft.plan.node_of(seat), seat.id()});
  }
  return choices;
}

// The seat that names a node: "server-1" of "server 1", none of "node 1".
std::string seat_named(const Draft& draft, const std::string& text) {
  const Selector selector = selector_of(draft, text);
  if (selector.word == "node" || selector.pick != Selector::Pick::kOne) return "";
  return Seat{selector.word, selector.number}.id();
}

// "node 2" is the lab's second node; "worker 2" the node where that worker sits.
std::string node_named(const Draft& draft, const std::string& text) {
  return run::node_named(draft.bundle.lab, draft.plan, selector_of(draft, text));
}

std::vector<Choice> node_choices(const Draft& draft, const Param& param) {
  const ParamValue* value = draft.given(param.name);
  if (value == nullptr) draft.refuse("it needs \"" + param.name + "\"", "name a node: \"node 1\"");
  const Selector selector = selector_of(draft, value->text);
  if (selector.pick == Selector::Pick::kOne) {
    const std::string& text = value->text;
    return {{param.name, std::nullopt, node_named(draft, text), seat_named(draft, text)}};
  }
  std::vector<Choice> choices;
  for (const Seat& seat : picked(draft, selector, selector.word)) {
    choices.push_back({param.name, std::nullopt, draft.plan.node_of(seat), seat.id()});
  }
  return choices;
}

// A link's near end is no choice, but where a seat names it, that seat is whom the fault is about.
Choice near_end(const Draft& draft) {
  for (const Param& param : draft.injector.params) {
    if (param.type != "node" || param.of.empty()) continue;
    const ParamValue* value = draft.given(param.name);
    if (value != nullptr) return {{}, std::nullopt, {}, seat_named(draft, value->text)};
  }
  return {};
}

// What the instances of a fault differ in: its process, else its node, else nothing.
std::vector<Choice> choices_of(const Draft& draft) {
  for (const Param& param : draft.injector.params) {
    if (param.type == "process") return process_choices(draft, param);
  }
  for (const Param& param : draft.injector.params) {
    if (param.type == "node" && param.of.empty()) return node_choices(draft, param);
  }
  return {near_end(draft)};
}

// The link of a link parameter, its near end first.
scenario::Link link_of(const Draft& draft, const Param& param) {
  const ParamValue* value = draft.given(param.name);
  if (value == nullptr) draft.refuse("it needs \"" + param.name + "\"", "name a link");
  const auto& links = draft.bundle.lab.links;
  const auto joins = [](const scenario::Link& l, const std::string& a, const std::string& b) {
    return (l.near.node == a && l.far.node == b) || (l.near.node == b && l.far.node == a);
  };
  auto found = links.end();
  std::string near;
  if (value->between.size() == 2) {
    near = node_named(draft, value->between[0]);
    const std::string far = node_named(draft, value->between[1]);
    found = std::ranges::find_if(links, [&](const auto& l) { return joins(l, near, far); });
  } else {
    found = std::ranges::find_if(links, [&](const auto& l) { return l.name == value->text; });
  }
  if (found == links.end()) draft.refuse("the lab has no such link", "see \"links\" of the lab");
  for (const Param& other : draft.injector.params) {
    if (other.of != param.name) continue;
    if (const ParamValue* end = draft.given(other.name)) near = node_named(draft, end->text);
  }
  scenario::Link link = *found;
  if (!near.empty() && link.near.node != near) std::swap(link.near, link.far);
  return link;
}

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
  vars.emplace_back(name + "_PORT", std::to_string(node->port));
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
