#include "run/plan.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"
#include "base/shell.hpp"
#include "run/plan_faults.hpp"

namespace unplug::run {
namespace {

using scenario::Bundle;
using scenario::Seat;

std::vector<SeatPlan> seats_of(const Bundle& bundle) {
  std::vector<SeatPlan> seats;
  for (const auto& place : bundle.target.places) {
    const auto bound = bundle.scenario.place.find(place.name);
    if (bound == bundle.scenario.place.end()) continue;
    int number = 1;
    for (const int position : bound->second) {
      if (position < 1 || position > static_cast<int>(bundle.lab.nodes.size())) {
        throw Error(Exit::kUsage, bundle.scenario_file.string(),
                    fmt::format("place \"{}\" names node {}, and lab \"{}\" has {}", place.name,
                                position, bundle.lab.name, bundle.lab.nodes.size()),
                    "use a lab with more nodes or another position");
      }
      seats.push_back({Seat{place.name, number++},
                       bundle.lab.nodes[static_cast<std::size_t>(position - 1)].name});
    }
  }
  return seats;
}

std::vector<std::string> nodes_of(const Bundle& bundle, const Plan& plan) {
  const std::vector<Call> commands = command_calls(bundle, plan);
  std::vector<std::string> nodes;
  for (const auto& node : bundle.lab.nodes) {
    const auto sits = [&](const SeatPlan& s) { return s.node == node.name; };
    const auto acts = [&](const FaultPlan& f) {
      return std::ranges::any_of(f.roles, [&](const RolePlan& r) { return r.node == node.name; });
    };
    const auto asked = [&](const Call& c) { return c.node == node.name; };
    if (std::ranges::any_of(plan.seats, sits) || std::ranges::any_of(plan.faults, acts) ||
        std::ranges::any_of(commands, asked)) {
      nodes.push_back(node.name);
    }
  }
  return nodes;
}

std::vector<std::string> hosts_of(const Plan& plan) {
  std::vector<std::string> hosts = plan.nodes;
  const auto looks = [](const RolePlan& role) { return role.node == kController; };
  const auto has = [&](const FaultPlan& fault) { return std::ranges::any_of(fault.roles, looks); };
  if (std::ranges::any_of(plan.faults, has)) hosts.push_back(kController);
  return hosts;
}

std::string without_prefix_length(const std::string& address) {
  return address.substr(0, address.find('/'));
}

// The address of `to` as seen from `from`: a data link between them first.
std::string address_of(const scenario::Lab& lab, const std::string& from, const std::string& to) {
  if (from == to) return "127.0.0.1";
  for (const auto& link : lab.links) {
    if (link.near.node == from && link.far.node == to && !link.far.address.empty()) {
      return without_prefix_length(link.far.address);
    }
    if (link.far.node == from && link.near.node == to && !link.near.address.empty()) {
      return without_prefix_length(link.near.address);
    }
  }
  return lab.node(to)->address;
}

std::string peers_of(const Bundle& bundle, const Plan& plan, const std::string& node) {
  std::string text;
  for (const SeatPlan& s : plan.seats) {
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", s.seat.id(),
                        address_of(bundle.lab, node, s.node));
  }
  return text;
}

// Where a folder of that place is: at this seat when it is one of them, else at the first.
const SeatPlan& seat_with(const Plan& plan, const std::string& place, const SeatPlan& here) {
  if (here.seat.place == place) return here;
  const auto first =
      std::ranges::find_if(plan.seats, [&](const SeatPlan& s) { return s.seat.place == place; });
  return first == plan.seats.end() ? here : *first;
}

Vars target_vars(const Bundle& bundle, const Plan& plan, const SeatPlan& seat) {
  const std::string& scratch = bundle.lab.node(seat.node)->scratch;
  Vars vars = {{"UNPLUG_SEAT", seat.seat.id()},
               {"UNPLUG_SCRATCH", scratch},
               {"UNPLUG_PEERS", peers_of(bundle, plan, seat.node)}};
  for (const auto& param : bundle.target.params) {
    const auto given = bundle.scenario.params.find(param.name);
    const std::string value =
        given != bundle.scenario.params.end() ? given->second : param.fallback.value_or("");
    vars.emplace_back("UNPLUG_PARAM_" + upper(param.name), for_script(param, value));
  }
  for (const auto& folder : bundle.target.folders) {
    const SeatPlan& home = seat_with(plan, folder.place, seat);
    vars.emplace_back("UNPLUG_FOLDER_" + upper(folder.name),
                      resolved(folder.path, bundle.lab.node(home.node)->scratch, home.seat.id()));
  }
  return vars;
}

}  // namespace

std::string Call::line() const {
  if (!own.empty()) return own;
  std::string text;
  for (const auto& [variable, value] : vars) text += variable + "=" + shell_quoted(value) + " ";
  text += fmt::format("sh sh/verb.sh {} {}", shell_quoted(name), verb);
  for (const std::string& arg : args) text += " " + shell_quoted(arg);
  return text;
}

const std::string& Plan::node_of(const Seat& wanted) const {
  const SeatPlan* found = seat(wanted.id());
  if (found == nullptr) {
    throw Error(Exit::kUsage, "scenario", "there is no " + wanted.text(),
                "bind it under \"place\"");
  }
  return found->node;
}

const SeatPlan* Plan::seat(const std::string& id) const {
  const auto found = std::ranges::find_if(seats, [&](const auto& s) { return s.seat.id() == id; });
  return found == seats.end() ? nullptr : &*found;
}

const std::string& node_named(const scenario::Lab& lab, const Plan& plan,
                              const scenario::Selector& selector) {
  if (selector.word != "node") return plan.node_of(Seat{selector.word, selector.number});
  const auto n = static_cast<std::size_t>(selector.number);
  if (n < 1 || n > lab.nodes.size()) {
    throw Error(Exit::kUsage, "scenario", "there is no " + scenario::to_text(selector),
                fmt::format("lab \"{}\" has {} nodes", lab.name, lab.nodes.size()));
  }
  return lab.nodes[n - 1].name;
}

Plan plan(const Bundle& bundle, std::uint64_t seed) {
  Plan plan;
  plan.seed = seed;
  plan.seats = seats_of(bundle);
  plan.faults = plan_faults(bundle, plan);
  plan.nodes = nodes_of(bundle, plan);
  plan.hosts = hosts_of(plan);
  for (const FaultPlan& fault : plan.faults) plan.outage = std::max(plan.outage, fault.hold);
  return plan;
}

std::vector<std::vector<Call>> target_calls(const Bundle& bundle, const Plan& plan,
                                            const std::string& verb,
                                            const std::vector<std::string>& args) {
  const scenario::Verb* known = bundle.target.verb(verb);
  if (known == nullptr) return {};
  std::vector<std::vector<Call>> groups;
  for (const auto& place : bundle.target.places) {
    if (known->place != "all" && known->place != place.name) continue;
    std::vector<Call> group;
    for (const SeatPlan& seat : plan.seats) {
      if (seat.seat.place != place.name) continue;
      group.push_back({seat.node, bundle.target.name, verb, target_vars(bundle, plan, seat), args,
                       known->within, seat.seat.id()});
    }
    if (!group.empty()) groups.push_back(std::move(group));
  }
  return groups;
}

std::string resolved(const std::string& path, const std::string& scratch, const std::string& seat) {
  std::string text = path;
  const auto replace = [&](std::string_view variable, const std::string& value) {
    for (auto at = text.find(variable); at != std::string::npos;
         at = text.find(variable, at + value.size())) {
      text.replace(at, variable.size(), value);
    }
  };
  replace("$SCRATCH", scratch);
  replace("$UNPLUG_LOGS", "logs");
  replace("$SEAT", seat);
  return text;
}

}  // namespace unplug::run
