#include "run/plan.hpp"

#include <fmt/format.h>

#include <set>

#include "base/shell.hpp"
#include "base/units.hpp"
#include "cli/bring_lab.hpp"
#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "run/run_scenario.hpp"

namespace unplug::cli {
namespace {

void print_fault(const run::FaultPlan& fault) {
  std::string where = fault.actor().node;
  if (fault.victim) {
    where = fmt::format("{} of {} ({})", fault.victim->part, fault.victim->seat.text(), where);
  }
  fmt::print("  {}: {} at {}, {}{}\n", fault.instance, fault.injector, where, fault.trigger_text,
             fault.armed_on_node ? ", armed on the node" : "");
  if (fault.drawn) fmt::print("    drawn from the seed: {}\n", for_people(*fault.drawn));
  fmt::print("    {}; fault lease {}, hard limit {} after fire\n",
             fault.lasting ? "lasting" : "held for " + to_text(fault.hold), to_text(fault.lease),
             to_text(fault.hard));
}

// "farm start, worker-1", "process_kill verify, kill, victim": what is called and for what, without
// the parameters that most calls share.
std::string short_line(const run::Call& call) {
  if (!call.own.empty()) return call.own;
  std::string text = call.name + " " + call.verb;
  for (const std::string& arg : call.args) text += " " + shell_quoted(arg);
  for (const auto& [name, value] : call.vars) {
    if (name == "UNPLUG_SEAT" || name == "UNPLUG_FAULT" || name == "UNPLUG_ROLE")
      text += ", " + value;
  }
  return text;
}

// One line for each call; the same call twice is told once.
void print_calls(const scenario::Bundle& bundle, const run::Plan& plan, bool exact) {
  const auto calls = run::planned_calls(bundle, plan);
  for (const std::string& host : plan.hosts) {
    fmt::print("\n{}\n", host);
    std::set<std::string> said;
    for (const auto& [phase, when, call] : calls) {
      if (call.node != host || !said.insert(call.line()).second) continue;
      fmt::print("  {:<10} {}\n", phase, exact ? call.line() : short_line(call));
      if (!when.empty()) fmt::print("  {:<10} # only if {}\n", "", when);
    }
  }
  if (!exact) fmt::print("\n--exact shows each as it will be sent, with its parameters\n");
}

}  // namespace

Exit plan(const PlanCommand& command) {
  const scenario::Library library = library_of(command.lookup);
  const auto lab = lab_file(command.lab);
  const scenario::Loaded loaded = scenario::load(command.scenario, lab, library);
  print_problems(loaded.problems);
  if (!loaded.bundle) return Exit::kUsage;
  if (!lab) {
    const int nodes = nodes_needed({command.scenario}, command.lab, library);
    return static_cast<Exit>(again_inside_lab(command.argv, nodes, "runs"));
  }
  const scenario::Bundle& bundle = *loaded.bundle;
  const run::Plan planned = run::plan(bundle, command.seed.value_or(bundle.scenario.seed));
  fmt::print("{}\nlab {}, seed {}\n\nseats\n", title_of(bundle.scenario), bundle.lab.name,
             planned.seed);
  for (const auto& seat : planned.seats) fmt::print("  {} on {}\n", seat.seat.text(), seat.node);
  fmt::print("\nfaults\n");
  for (const auto& fault : planned.faults) print_fault(fault);
  print_calls(bundle, planned, command.exact);
  Console console;
  const auto problems = run::probe_lab(bundle, planned, console);
  fmt::print("\n");
  for (const std::string& problem : problems) fmt::print("BLOCKED {}\n", printable(problem));
  if (problems.empty()) fmt::print("every node was reached and every probe said yes\n");
  return problems.empty() ? Exit::kPass : Exit::kInconclusive;
}

}  // namespace unplug::cli
