// What every part of a run shares. Made by run_scenario.cpp, outlives all coroutines of the run.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "journal/writer.hpp"
#include "node/node.hpp"
#include "run/bell.hpp"
#include "run/clocks.hpp"
#include "run/plan.hpp"
#include "run/progress.hpp"

namespace unplug::run {

// Why a run must not go on as planned. Healing is never skipped.
enum class Stop { kNo, kInterrupted, kInternal };

// What the engine waits for by itself. Tests shorten it; nothing else does.
struct Times {
  // docs/semantics.md, In effect: a lasting fault's proof, and any undo's, must hold twice, this
  // far apart.
  Duration twice_apart = std::chrono::seconds{1};
  Duration effect_within = std::chrono::seconds{5};  // a fault that shows none by then has none
  Duration retry = std::chrono::milliseconds{100};
  Duration undo_beyond = std::chrono::seconds{8};  // over undo_settle, for the guard's own steps
};

struct Context {
  Context(const scenario::Bundle& b, const Plan& p, asio::any_io_executor e, Progress& out)
      : bundle(b), plan(p), executor(e), bell(e), progress(out) {}

  const scenario::Bundle& bundle;
  const Plan& plan;
  asio::any_io_executor executor;
  Bell bell;
  Progress& progress;
  std::map<std::string, std::shared_ptr<node::Node>> nodes;
  Clocks clocks;
  // Read at preflight: parts of the baseline's key.
  std::vector<std::string> versions;
  std::map<std::string, std::string> machines;  // node -> system, kernel, machine, cores
  std::string run;                              // the main run's id: owner of the lock
  std::filesystem::path folder;                 // runs/RUN
  std::optional<std::filesystem::path> patch;
  Times times;
  Stop stop = Stop::kNo;
  std::string why_stopped;

  node::Node& node(const std::string& name) const { return *nodes.at(name); }

  // Our own trouble (journal unwritable, ...): heal what was done and end with 70.
  void fail(const std::string& why) {
    if (stop == Stop::kInternal) return;
    stop = Stop::kInternal;
    why_stopped = why;
    bell.ring();
  }
};

// A run or its baseline: one folder on the nodes, one journal here.
struct Stage {
  Context& context;
  journal::Sink& journal;
  std::string id;  // ~/.unplug/ID on every node
  bool baseline = false;
  std::filesystem::path folder;     // where captured files go
  BootClock::time_point started{};  // when the target was ready; triggers count from it

  const scenario::Bundle& bundle() const { return context.bundle; }
  const Plan& plan() const { return context.plan; }
  std::string remote() const { return ".unplug/" + id; }
  void note(const std::string& text, const std::string& node = {}) const {
    journal.append({.kind = "note", .data = {{"text", text}}, .node = node});
  }
};

}  // namespace unplug::run
