// What the observer of one node is told to watch.
#include <fmt/format.h>

#include "run/item_paths.hpp"
#include "run/observation.hpp"
#include "run/remote.hpp"

namespace unplug::run {
namespace {

long milliseconds(Duration d) {
  return static_cast<long>(std::chrono::duration_cast<std::chrono::milliseconds>(d).count());
}

void add_logs(std::string& conf, const scenario::Bundle& bundle, const Plan& plan,
              const std::string& node, const std::string& log_name) {
  const scenario::Log* log = bundle.target.log(log_name);
  const std::string& scratch = bundle.lab.node(node)->scratch;
  for (const SeatPlan& seat : plan.seats) {
    if (log == nullptr || seat.node != node || seat.seat.place != log->place) continue;
    conf += fmt::format("log\t{}@{}\t{}\n", log->name, seat.seat.id(),
                        resolved(log->path, scratch, seat.seat.id()));
  }
}

void add_files(std::string& conf, const scenario::Bundle& bundle, const Plan& plan,
               const std::string& node, const scenario::Observer& observer) {
  const scenario::Folder* folder = bundle.target.folder(observer.folder);
  if (folder == nullptr) return;
  for (const SeatPlan& seat : plan.seats) {
    if (seat.node != node || seat.seat.place != folder->place) continue;
    conf += fmt::format("files\t{}\t{}\t{}", observer.id, milliseconds(observer.every),
                        resolved(folder->path, bundle.lab.node(node)->scratch, seat.seat.id()));
    if (bundle.target.items && bundle.target.items->folder == folder->name) {
      for (const std::string& pattern : item_globs(*bundle.target.items)) conf += "\t" + pattern;
    }
    conf += "\n";
    return;
  }
}

}  // namespace

std::string observe_conf(const scenario::Bundle& bundle, const Plan& plan,
                         const std::string& node) {
  std::string conf;
  if (node == kController) return conf;  // nothing of the target is there
  for (const scenario::Observer& observer : bundle.target.observers) {
    if (observer.kind == "log") {
      add_logs(conf, bundle, plan, node, observer.log);
    } else if (observer.kind == "files") {
      add_files(conf, bundle, plan, node, observer);
    } else if (observer.kind == "processes") {
      conf += fmt::format("procs\t{}\t{}\n", observer.id, milliseconds(observer.every));
    }
  }
  for (const scenario::Part& part : bundle.target.parts) {
    if (!part.child_of.empty()) {
      conf += fmt::format("part\t{}\t{}\t{}\n", part.name, part.child_of, part.command);
    }
  }
  for (const scenario::Folder& folder : bundle.target.folders) {
    conf += fmt::format("job\t{}\n", resolved(folder.path, bundle.lab.node(node)->scratch, ""));
  }
  return conf;
}

}  // namespace unplug::run
