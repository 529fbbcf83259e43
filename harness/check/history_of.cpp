// Builds a History: clocks and coverage first, for all else is timed by them.
#include "check/history.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "check/fields.hpp"

namespace unplug::check {
namespace {

using journal::Event;
using journal::Json;

// How long a line may stand in a log before the observer reads it.
constexpr std::int64_t kLogSampling = 250'000'000;
constexpr std::int64_t kFallbackSampling = 500'000'000;

std::string scalar_text(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

std::optional<double> scalar_number(const Json& value) {
  if (value.is_number()) return value.get<double>();
  if (!value.is_string()) return std::nullopt;
  const std::string& text = value.get_ref<const std::string&>();
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0') return std::nullopt;
  return number;
}

class Builder {
 public:
  Builder(const journal::Journal& journal, const std::vector<Event>& healed, const Case& c)
      : events_(journal.events), healed_(healed), case_(c) {
    history_.broken = journal.broken;
  }

  History build() {
    for (const scenario::Observer& observer : case_.target->observers) {
      history_.observers.try_emplace(observer.kind, observer.id);
    }
    for (const Event& event : events_) {
      if (event.kind == "clock") history_.clocks.add(event);
    }
    for (const Event& event : events_) index_observation(event);
    for (const Event& event : events_) index(event);
    for (const Event& event : healed_) {
      if (event.kind == "fault") add_fault(event, healed_at(event));
    }
    if (!events_.empty()) history_.end = Span{events_.back().t, events_.back().t};
    for (FaultRecord& fault : history_.faults) settle_fault(fault);
    return std::move(history_);
  }

 private:
  // --- time ----------------------------------------------------------------------------------

  Span at(const Event& event) const {
    const auto t0 = integer_of(event.data, "t0");
    const auto t1 = integer_of(event.data, "t1");
    if (t0 && t1 && *t0 <= *t1) return {*t0, *t1};
    if (!event.node_time) return {event.t, event.t};
    const auto span = history_.clocks.at(event.node, *event.node_time);
    return span.value_or(Span{kUnknownPast, event.t});
  }

  // What heal brings was never in the journal, so that no time of ours bounds it.
  Span healed_at(const Event& event) const {
    if (!event.node_time) return kAnyTime;
    return history_.clocks.at(event.node, *event.node_time).value_or(kAnyTime);
  }

  std::int64_t sampling(const std::string& kind) const {
    if (kind == "log") return kLogSampling;
    std::int64_t longest = 0;
    for (const scenario::Observer& observer : case_.target->observers) {
      if (observer.kind == kind) longest = std::max<std::int64_t>(longest, observer.every.count());
    }
    return longest > 0 ? longest : kFallbackSampling;
  }

  // When it happened, for what an observer saw: since its look before, or while it was blind.
  Span seen(const Event& event, const std::string& observer_kind) const {
    Span span = at(event);
    if (const auto gap = history_.coverage.gap_before(event.node, span)) {
      return {std::min(gap->lo, span.lo), span.hi};
    }
    if (span.lo > kUnknownPast) span.lo -= sampling(observer_kind);
    return span;
  }

  // --- events --------------------------------------------------------------------------------

  void index_observation(const Event& event) {
    if (event.kind == "observer") history_.coverage.add(event, history_.clocks);
    if (event.src.rfind("observer", 0) == 0) history_.coverage.heard(event.node, at(event));
  }

  void index(const Event& event) {
    const Json& data = event.data;
    if (event.kind == "run_opened") add_opened(data);
    if (event.kind == "phase") add_phase(event);
    if (event.kind == "fault") add_fault(event, at(event));
    if (event.kind == "proof") add_proof(event);
    if (event.kind == "proc") history_.processes.add(event, proc_time(event));
    if (event.kind == "target") add_target(event);
    if (event.kind == "work") add_work_event(event);
    if (event.kind == "item")
      sight(event.seq, text_of(data, "item"), text_of(data, "state"), at(event));
    if (event.kind == "snapshot") add_snapshot(event);
    if (event.kind == "file" && text_of(data, "role") == "output") add_output(event);
    if (event.kind == "baseline_ref") {
      history_.baseline_ref = {event.seq, flag_of(data, "passed", false), text_of(data, "why")};
    }
    if (event.kind == "run_closed") {
      history_.closed = text_of(data, "reason");
      history_.closed_why = text_of(data, "why");
    }
  }

  void add_opened(const Json& data) {
    history_.embedded = flag_of(data, "embedded", false);
    for (const Json& seat : list_of(data, "seats")) {
      history_.seats[text_of(seat, "seat")] = text_of(seat, "node");
    }
  }

  void add_phase(const Event& event) {
    Phase& phase = history_.phases[text_of(event.data, "name")];
    if (text_of(event.data, "edge") == "begin") {
      if (!phase.begin) phase.begin = at(event);
    } else {
      phase.end = at(event);
    }
  }

  Span proc_time(const Event& event) const {
    const bool sample = text_of(event.data, "edge") == "sample";
    return sample ? at(event) : seen(event, "processes");
  }

  void add_target(const Event& event) {
    const std::string name = text_of(event.data, "event");
    const std::string seat = text_of(event.data, "seat");
    const std::string text = text_of(event.data, "text");
    const Span when = seen(event, "log");
    history_.said.push_back({event.seq, name, seat, text, when});
    const scenario::EventPattern* pattern = case_.target->event(name);
    const Json* fields = field(event.data, "fields");
    if (pattern == nullptr || pattern->progress.empty() || fields == nullptr) return;
    const Json* counter = field(*fields, pattern->progress.c_str());
    const auto value = counter == nullptr ? std::nullopt : scalar_number(*counter);
    if (!value) return;
    const Json* item = field(*fields, "item");
    const auto key = std::pair{seat, item == nullptr ? std::string() : scalar_text(*item)};
    const auto [highest, first] = counters_.try_emplace(key, *value);
    if (!first && *value <= highest->second) return;  // said again is no progress
    highest->second = *value;
    history_.progress.push_back({event.seq, seat, text.empty() ? name : text, when});
  }

  void add_work_event(const Event& event) {
    const Span when = seen(event, "log");
    const std::string seat = text_of(event.data, "seat");
    const std::string item = text_of(event.data, "item");
    add_work(history_.works, event, when);
    if (text_of(event.data, "edge") == "begin") {
      counters_.erase({seat, item});  // a new beginning counts from its own start
    } else {
      history_.progress.push_back(
          {event.seq, seat, text_of(event.data, "event") + " " + item, when});
    }
  }

  void sight(std::uint64_t seq, const std::string& item, const std::string& state, Span when) {
    history_.sightings[item].push_back({seq, state, when});
  }

  void add_snapshot(const Event& event) {
    if (text_of(event.data, "scope") != "items") {
      add_node_snapshot(event);
      return;
    }
    ItemSnapshot snapshot = item_snapshot(event, at(event));
    for (const ItemEntry& entry : snapshot.items) {
      if (snapshot.clean) sight(event.seq, entry.item, entry.state, snapshot.taken);
    }
    history_.item_snapshots.push_back(std::move(snapshot));
  }

  void add_node_snapshot(const Event& event) {
    NodeSnapshot snapshot;
    snapshot.seq = event.seq;
    snapshot.node = event.node;
    snapshot.when = text_of(event.data, "when");
    snapshot.scope = text_of(event.data, "scope");
    const Json* what = field(event.data, "what");
    snapshot.clean = what != nullptr && flag_of(event.data, "clean", true);
    if (what != nullptr) snapshot.truncated = flag_of(*what, "truncated", false);
    for (const char* list : {"files", "ports", "mounts"}) {
      if (what == nullptr) break;
      for (const Json& entry : list_of(*what, list)) {
        if (entry.is_string()) snapshot.lists[list].push_back(entry.get<std::string>());
      }
    }
    history_.node_snapshots.push_back(std::move(snapshot));
  }

  void add_output(const Event& event) {
    Output output{event.seq, text_of(event.data, "item"), text_of(event.data, "path"),
                  text_of(event.data, "sha"), text_of(event.data, "frames")};
    auto& all = history_.outputs;
    const auto same = std::find_if(all.begin(), all.end(), [&](const Output& o) {
      return o.item == output.item && o.path == output.path;
    });
    if (same != all.end()) {
      *same = std::move(output);  // captured again after recover: the last one counts
    } else {
      all.push_back(std::move(output));
    }
  }

  // --- faults --------------------------------------------------------------------------------

  FaultRecord& record(const Json& data, const char* instance_key) {
    const std::string instance = text_of(data, instance_key);
    for (FaultRecord& fault : history_.faults) {
      if (fault.instance == instance) return fault;
    }
    history_.faults.emplace_back();
    history_.faults.back().instance = instance;
    return history_.faults.back();
  }

  void add_fault(const Event& event, Span when) {
    const Json& data = event.data;
    FaultRecord& fault = record(data, "instance");
    const std::string state = text_of(data, "state");
    const std::string role = role_of(fault, event);
    if (fault.id.empty()) fault.id = text_of(data, "id");
    if (fault.injector.empty()) fault.injector = text_of(data, "injector");
    if (state == "planned") plan_role(fault, event, role);
    take_victim(fault, event);
    if (state == "fired" && !fault.asked) {
      fault.asked = number_of(data, "asked");
      fault.reached = number_of(data, "reached");
    }
    fault.states.push_back({event.seq, role, event.node, state,
                            event.src == "heal" ? "heal" : text_of(data, "by"),
                            text_of(data, "why"), text_of(data, "by_hand"), when});
  }

  // What `heal` brings from a node knows the node, not the role.
  static std::string role_of(const FaultRecord& fault, const Event& event) {
    const std::string role = text_of(event.data, "role");
    if (!role.empty()) return role;
    for (const auto& [name, where] : fault.roles) {
      if (where.acts && where.node == event.node) return name;
    }
    return "";
  }

  static void plan_role(FaultRecord& fault, const Event& event, const std::string& role) {
    const Json& data = event.data;
    fault.roles[role] = {event.node, flag_of(data, "acts", true)};
    fault.lasting = fault.lasting || flag_of(data, "lasting", false);
    if (!fault.hold) fault.hold = integer_of(data, "hold_ns");
    if (!fault.drawn) fault.drawn = integer_of(data, "drawn_ns");
    if (fault.trigger.empty()) fault.trigger = text_of(data, "trigger");
  }

  static void take_victim(FaultRecord& fault, const Event& event) {
    const Json* victim = field(event.data, "victim");
    if (victim == nullptr) return;
    if (!text_of(*victim, "part").empty()) fault.victim.part = text_of(*victim, "part");
    if (!text_of(*victim, "seat").empty()) fault.victim.seat = text_of(*victim, "seat");
    if (const auto pid = integer_of(*victim, "pid")) fault.victim.pid = pid;
    if (const auto start = integer_of(*victim, "start")) fault.victim.start = start;
  }

  void add_proof(const Event& event) {
    FaultRecord& fault = record(event.data, "fault");
    fault.proofs.push_back({event.seq, text_of(event.data, "role"), event.node,
                            text_of(event.data, "says"), text_of(event.data, "of") != "reverted",
                            at(event), flag_of(event.data, "afterwards", false)});
  }

  std::string node_of_victim(const FaultRecord& fault) const {
    const auto seat = history_.seats.find(fault.victim.seat);
    if (seat != history_.seats.end()) return seat->second;
    for (const auto& [name, role] : fault.roles) {
      if (role.acts) return role.node;
    }
    return "";
  }

  void settle_fault(FaultRecord& fault) {
    FaultRules rules;
    for (const scenario::Fault& planned : case_.scenario->faults) {
      if (planned.id == fault.id) rules.fault = &planned;
    }
    if (case_.injectors != nullptr) {
      const auto injector = case_.injectors->find(fault.injector);
      if (injector != case_.injectors->end()) {
        rules.verify_every = injector->second.verify_every.count();
      }
    }
    rules.started = history_.started();
    rules.closed = history_.closed.has_value();
    fault.node = node_of_victim(fault);
    settle(fault, rules);
  }

  const std::vector<Event>& events_;
  const std::vector<Event>& healed_;
  const Case& case_;
  History history_;
  std::map<std::pair<std::string, std::string>, double> counters_;  // seat and item -> highest
};

}  // namespace

History history_of(const journal::Journal& journal, const std::vector<Event>& healed,
                   const Case& c) {
  return Builder(journal, healed, c).build();
}

}  // namespace unplug::check
