// Hand-written journals in a few lines. Time is in seconds after the controller's zero; nodes'
// clocks run `skew` ahead of it, and round trips bound them within a few milliseconds.
//
//   Story run;                       // farm of two nodes, run begins at 10 s
//   run.frozen(20, 24);            // a confirmed fault on worker-2
//   run.work(15, "worker-2", "shot-2", "begin");
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "check/judge.hpp"
#include "journal/writer.hpp"

namespace unplug::check {

using journal::Json;

inline std::int64_t ns(double seconds) { return std::llround(seconds * 1e9); }

inline scenario::Target farm_target() {
  scenario::Target target;
  target.name = "farm";
  target.kind = "farm";
  target.places = {{"server", 1, 1}, {"worker", 1, std::nullopt}};
  target.parts = {{"worker", "worker", "", "", std::nullopt},
                  {"renderer", "worker", "worker", "^ffmpeg ", std::nullopt}};
  const auto event = [](const char* name, scenario::Work work, const char* progress) {
    scenario::EventPattern pattern;
    pattern.name = name;
    pattern.work = work;
    pattern.progress = progress;
    return pattern;
  };
  target.events = {
      event("claimed", scenario::Work::kBegin, ""), event("frame", scenario::Work::kNone, "n"),
      event("published", scenario::Work::kEnd, ""), event("lost_claim", scenario::Work::kEnd, "")};
  scenario::Items items;
  items.folder = "share";
  items.states = {{"queued", ""}, {"claimed", ""}, {"done", ""}, {"failed", ""}};
  items.outputs = {{"done", {{"done/$ITEM.mp4"}}}};
  items.terminal = {"done", "failed"};
  target.items = items;
  target.observers = {{"log", "log", "worker", "", "", {}},
                      {"share", "files", "", "share", "", std::chrono::milliseconds{200}},
                      {"procs", "processes", "", "", "all", std::chrono::milliseconds{500}}};
  target.keeps = {"share:done/"};
  return target;
}

class Story {
 public:
  static constexpr double kSkew = 1000;  // the nodes' clocks, ahead of the controller's
  static constexpr double kStart = 10;   // phase `run`

  // Round trips of some seconds leave as much open of when a thing happened on a node.
  // Not `began`: the target never became ready, and nothing was handed in.
  explicit Story(double round_trip = 0.004, bool embedded = true, bool began = true) {
    add(0, "run_opened",
        {{"run", "r"},
         {"embedded", embedded},
         {"seats",
          {{{"seat", "server-1"}, {"node", "node1"}},
           {{"seat", "worker-1"}, {"node", "node1"}},
           {{"seat", "worker-2"}, {"node", "node2"}}}}});
    for (const char* node : {"node1", "node2"}) clock(node, 1, round_trip);
    for (const char* node : {"node1", "node2"}) observer(node, 2, "begin", 2, 2);
    if (began) phase(kStart, "run", "begin");
    baseline_ref(true);
  }

  // --- any event -----------------------------------------------------------------------------

  std::uint64_t add(double t, const std::string& kind, Json data, const std::string& node = {},
                    const std::string& src = "controller", bool on_node = false) {
    journal::Draft draft{kind, std::move(data), src, node, {}, ns(t) + 1};
    if (on_node) draft.node_time = journal::NodeTime{"boot", ns(t + kSkew)};
    return memory.append(draft).seq;
  }

  // --- the run -------------------------------------------------------------------------------

  void clock(const std::string& node, double t, double round_trip = 0.004) {
    const double half = round_trip / 2;
    journal::Draft draft{"clock",
                         {{"t0", ns(t - half)}, {"nt", ns(t + kSkew)}, {"t1", ns(t + half)}},
                         "controller",
                         node,
                         journal::NodeTime{"boot", ns(t + kSkew)},
                         ns(t)};
    memory.append(draft);
  }
  void phase(double t, const std::string& name, const std::string& edge) {
    add(t, "phase", {{"name", name}, {"edge", edge}});
  }
  void observer(const std::string& node, double t, const std::string& edge, double from, double to,
                const std::string& id = "all") {
    add(t, "observer",
        {{"id", id}, {"edge", edge}, {"from", ns(from + kSkew)}, {"to", ns(to + kSkew)}}, node,
        "observer:" + id, true);
  }
  void baseline_ref(bool passed) {
    add(5, "baseline_ref", {{"key", "k"}, {"passed", passed}, {"why", passed ? "" : "exit 1"}});
  }
  // Capture at `t`, observers end, and the run is closed.
  void close(double t, const std::string& reason = "done") {
    phase(t, "capture", "begin");
    for (const char* node : {"node1", "node2"}) observer(node, t + 1, "end", t + 1, t + 1);
    phase(t + 2, "capture", "end");
    add(t + 3, "run_closed", {{"reason", reason}, {"why", ""}});
  }

  // --- faults --------------------------------------------------------------------------------

  void plan(const std::string& instance, Json more = {}) {
    Json data{{"id", instance},     {"instance", instance},
              {"role", "victim"},   {"injector", "process_freeze"},
              {"state", "planned"}, {"by", "controller"},
              {"acts", true},       {"lasting", false},
              {"hold_ns", ns(4)},   {"victim", {{"part", "worker"}, {"seat", "worker-2"}}}};
    if (more.is_object()) data.update(more);
    add(6, "fault", data, "node2");
  }
  std::uint64_t fault(double t, const std::string& instance, const std::string& state,
                      Json more = {}, const std::string& role = "victim",
                      const std::string& node = "node2") {
    Json data{{"id", instance}, {"instance", instance},
              {"role", role},   {"injector", "process_freeze"},
              {"state", state}, {"by", "controller"}};
    if (state == "fired") {
      data["t0"] = ns(t - 0.002), data["t1"] = ns(t + 0.002);
      data["victim"] = {{"part", "worker"}, {"seat", "worker-2"}, {"pid", 42}, {"start", 7}};
    }
    if (more.is_object()) data.update(more);
    return add(t, "fault", data, node);
  }
  std::uint64_t proof(double t, const std::string& instance, const std::string& says,
                      const std::string& of = "effect", const std::string& role = "victim",
                      const std::string& node = "node2") {
    return add(t, "proof",
               {{"fault", instance},
                {"id", instance},
                {"role", role},
                {"of", of},
                {"says", says},
                {"observed", Json::object()},
                {"t0", ns(t - 0.05)},
                {"t1", ns(t)}},
               node);
  }
  // By the record of a node that was cut off.
  std::uint64_t proof_afterwards(double t, const std::string& instance, const std::string& says) {
    return add(t, "proof",
               {{"fault", instance},
                {"id", instance},
                {"role", "victim"},
                {"of", "effect"},
                {"says", says},
                {"afterwards", true},
                {"t0", ns(t - 0.05)},
                {"t1", ns(t)}},
               "node2");
  }
  // Planned, fired at `from`, seen every second, reverted at `to`: all that proof needs.
  void frozen(double from, double to, const std::string& instance = "freeze") {
    plan(instance, {{"hold_ns", ns(to - from)}});
    held(from, to, instance, Json());
  }
  // The same of a fault that has a seat for its victim and no process: of a link, of a node.
  void cut_off(double from, double to, const std::string& instance = "drop") {
    const Json seat{{"part", ""}, {"seat", "worker-2"}};
    plan(instance, {{"hold_ns", ns(to - from)}, {"injector", "link_drop"}, {"victim", seat}});
    held(from, to, instance, {{"victim", nullptr}});
  }
  void held(double from, double to, const std::string& instance, const Json& fired) {
    fault(from - 1, instance, "armed");
    fault(from, instance, "fired", fired);
    for (double t = from + 0.2; t < to; t += 1) proof(t, instance, "yes");
    proof(to - 0.01, instance, "yes");
    fault(to, instance, "reverting", {{"why", "planned"}});
    fault(to + 1, instance, "reverted");
    proof(to + 1.1, instance, "yes", "reverted");
  }
  // A lasting fault: the worker is killed and seen gone twice.
  void killed(double at, const std::string& instance = "kill") {
    plan(instance, {{"lasting", true}, {"hold_ns", nullptr}, {"injector", "process_kill"}});
    fault(at - 1, instance, "armed");
    fault(at, instance, "fired");
    proof(at + 0.2, instance, "yes");
    proof(at + 1.3, instance, "yes");
    fault(at + 1.4, instance, "spent");
  }

  // --- the target ----------------------------------------------------------------------------

  void work(double t, const std::string& seat, const std::string& item, const std::string& edge,
            const std::string& event = "") {
    add(t, "work",
        {{"item", item},
         {"seat", seat},
         {"edge", edge},
         {"event", !event.empty()    ? event
                   : edge == "begin" ? "claimed"
                                     : "published"}},
        node_of(seat), "observer:log", true);
  }
  void frame(double t, const std::string& seat, const std::string& item, int n) {
    add(t, "target",
        {{"event", "frame"},
         {"fields", {{"item", item}, {"n", std::to_string(n)}}},
         {"seat", seat},
         {"text", "frame " + item + " " + std::to_string(n)}},
        node_of(seat), "observer:log", true);
  }
  using Items = std::vector<std::pair<std::string, std::string>>;  // item, state
  std::uint64_t items(double t, const std::string& when, const Items& all, bool clean = true,
                      std::vector<std::string> foreign = {}) {
    Json list = Json::array();
    for (const auto& [item, state] : all) list.push_back({{"item", item}, {"state", state}});
    return add(t, "snapshot",
               {{"when", when},
                {"scope", "items"},
                {"clean", clean},
                {"what", {{"items", list}, {"foreign", foreign}}}},
               "node1", "observer:share", true);
  }
  struct Held {
    std::string item, state, owner;
  };
  // As `items`, with the owners that the files' names tell.
  std::uint64_t claims(double t, const std::string& when, const std::vector<Held>& all,
                       bool clean = true) {
    Json list = Json::array();
    for (const Held& held : all) {
      const std::string in = held.owner.empty() ? "" : held.owner + "/";
      list.push_back({{"item", held.item},
                      {"state", held.state},
                      {"owner", held.owner.empty() ? Json(nullptr) : Json(held.owner)},
                      {"file", held.state + "/" + in + held.item + ".job"}});
    }
    return add(t, "snapshot",
               {{"when", when},
                {"scope", "items"},
                {"clean", clean},
                {"what", {{"items", list}, {"foreign", Json::array()}}}},
               "node1", "observer:share", true);
  }
  void says(double t, const std::string& seat, const std::string& event, Json fields) {
    add(t, "target",
        {{"event", event}, {"fields", fields}, {"seat", seat}, {"text", event + " it"}},
        node_of(seat), "observer:log", true);
  }
  void node_lists(double t, const std::string& when, const std::string& node,
                  std::vector<std::string> files, std::vector<std::string> ports = {},
                  bool truncated = false) {
    add(t, "snapshot",
        {{"when", when},
         {"scope", "files"},
         {"clean", true},
         {"what", {{"files", files}, {"truncated", truncated}}}},
        node);
    add(t, "snapshot",
        {{"when", when},
         {"scope", "system"},
         {"clean", true},
         {"what", {{"ports", ports}, {"mounts", Json::array()}}}},
        node);
  }
  struct Foreigner {
    int pid;
    std::string cmd;
  };
  // What is on a node and not ours: files with their hashes, processes.
  std::uint64_t foreign(double t, const std::string& when, const std::string& node,
                        const std::vector<std::pair<std::string, std::string>>& files,
                        const std::vector<Foreigner>& processes = {}, bool clean = true) {
    Json what = {{"boot", "boot"}, {"files", Json::array()}, {"processes", Json::array()}};
    for (const auto& [path, sha] : files) what["files"].push_back({{"path", path}, {"sha", sha}});
    for (const Foreigner& one : processes) {
      what["processes"].push_back({{"pid", one.pid}, {"start", 7}, {"cmd", one.cmd}});
    }
    return add(t, "snapshot",
               {{"when", when}, {"scope", "foreign"}, {"clean", clean}, {"what", what}}, node);
  }
  void output(const std::string& item, const std::string& sha, const std::string& frames = "") {
    add(50, "file",
        {{"role", "output"},
         {"item", item},
         {"path", "done/" + item + ".mp4"},
         {"sha", sha},
         {"frames", frames.empty() ? Json(nullptr) : Json(frames)}},
        "node1");
  }
  void proc(double t, const std::string& seat, int pid, const std::string& edge,
            Json exit = nullptr, const std::string& part = "worker", int cpu_ms = 0) {
    add(t, "proc",
        {{"pid", pid},
         {"start", 7},
         {"boot", "boot"},
         {"edge", edge},
         {"part", part},
         {"seat", seat},
         {"state", "S"},
         {"cpu_ms", cpu_ms},
         {"exit", exit}},
        node_of(seat), "observer:procs", true);
  }

  // --- judging -------------------------------------------------------------------------------

  journal::Journal journal() const { return {memory.events, false, ""}; }
  static std::string node_of(const std::string& seat) {
    return seat == "worker-2" ? "node2" : "node1";
  }

  journal::Memory memory;
};

// Judges one run against expectations; a baseline when one is given.
struct Judging {
  scenario::Scenario scenario;
  scenario::Target target = farm_target();
  std::optional<Story> baseline;
  std::vector<journal::Event> healed;

  Result judge(const Story& run) const {
    Case c;
    c.journal = run.journal();
    if (baseline) c.baseline = baseline->journal();
    c.healed = healed;
    c.scenario = &scenario;
    c.target = &target;
    return check::judge(c);
  }
  Judging& expect(const std::string& check, const std::string& outcome = "", double seconds = 0) {
    scenario::Expectation expectation;
    expectation.check = check;
    expectation.outcome = outcome;
    if (seconds > 0) expectation.within = Duration{ns(seconds)};
    scenario.expect.push_back(expectation);
    return *this;
  }
};

// The only finding's answer.
inline Finding only(const Result& result) {
  EXPECT_EQ(result.findings.size(), 1u);
  return result.findings.empty() ? Finding{} : result.findings.front();
}

}  // namespace unplug::check
