// A small farm scenario with any faults, for tests of plan and timeline. No file is read.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "run/plan.hpp"

namespace unplug::run {

inline scenario::Injector process_injector(const std::string& name, bool lasting) {
  scenario::Injector injector;
  injector.name = name;
  injector.params = {{"process", "process", {}, {}}, {"signal", "signal", "KILL", {}}};
  injector.roles = {{"victim", "process", true}};
  injector.lasting = lasting;
  injector.platforms[scenario::Platform::kLinux] = {};
  return injector;
}

inline scenario::Fault fault(std::string id, std::string injector, std::string process,
                             scenario::Trigger trigger, Duration hold = {}) {
  scenario::Fault made;
  made.id = std::move(id);
  made.injector = std::move(injector);
  made.params["process"].text = std::move(process);
  made.trigger = std::move(trigger);
  if (hold.count() > 0) made.hold = hold;
  return made;
}

inline scenario::LabNode lab_node(const std::string& name, const std::string& address) {
  scenario::LabNode node;
  node.name = name;
  node.address = address;
  node.scratch = "/scratch";
  node.root = scenario::Root::kAlready;
  return node;
}

// Two nodes joined by `tb`; a server on the first, a worker on each.
inline scenario::Bundle farm(std::vector<scenario::Fault> faults) {
  scenario::Bundle bundle;
  bundle.lab.name = "two-node";
  bundle.lab.nodes = {lab_node("node1", "10.77.0.11"), lab_node("node2", "10.77.0.12")};
  bundle.lab.links = {
      {"tb", "thunderbolt", {"node1", "tb0", "10.78.1.1/30"}, {"node2", "tb0", "10.78.1.2/30"}}};
  bundle.lab.limits.fault_lease = std::chrono::seconds{3};
  bundle.target.name = "farm";
  bundle.target.places = {{"server", 1, 1}, {"worker", 1, std::nullopt}};
  bundle.target.params = {{"claim_lease", "duration", "4s", {}}};
  bundle.target.folders = {{"share", "server", "$SCRATCH/farm"}, {"work", "worker", "$SCRATCH/w"}};
  bundle.target.verbs = {{"deploy", "all", std::chrono::seconds{5}},
                         {"ready", "worker", std::chrono::seconds{5}},
                         {"enqueue", "server", std::chrono::seconds{5}}};
  bundle.target.parts = {{"worker", "worker", "", "", std::nullopt},
                         {"renderer", "worker", "worker", "^ffmpeg ", std::nullopt}};
  bundle.target.logs = {{"worker", "worker", "$UNPLUG_LOGS/worker.$SEAT.log"}};
  scenario::EventPattern frame;
  frame.name = "frame";
  frame.log = "worker";
  frame.match = "^frame ([^ ]+) ([0-9]+)$";
  frame.fields = {{"item", 1}, {"n", 2}};
  bundle.target.events = {frame};
  bundle.scenario.name = "test";
  bundle.scenario.target = "farm";
  bundle.scenario.place = {{"server", {1}}, {"worker", {1, 2}}};
  bundle.scenario.workload = {"enqueue", {"--id", "shot"}};
  bundle.scenario.faults = std::move(faults);
  bundle.injectors["process_kill"] = process_injector("process_kill", true);
  bundle.injectors["process_freeze"] = process_injector("process_freeze", false);
  return bundle;
}

}  // namespace unplug::run
