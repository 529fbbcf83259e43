// Builds a History: clocks and coverage first, for all else is timed by them.
#include "check/history.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "check/fault_records.hpp"
#include "check/fields.hpp"

namespace unplug::check {
namespace {

using journal::Event;
using journal::Json;

// How long a line may stand in a log before the observer reads it.
constexpr std::int64_t kLogSampling = 250'000'000;
constexpr std::int64_t kFallbackSampling = 500'000'000;

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
      if (event.kind == "fault") faults_.add_fault(event, healed_at(event));
    }
    if (!events_.empty()) history_.end = Span{events_.back().t, events_.back().t};
    find_handed_in();
    history_.faults = faults_.settled(history_, case_);
    history_.skews = judge_skews(*case_.scenario, history_.faults);
    return std::move(history_);
  }

 private:
  void find_handed_in() {
    const ItemSnapshot* before = history_.items_before();
    if (before == nullptr) return;
    for (const ItemEntry& entry : before->items) history_.handed_in.insert(entry.item);
    for (const Work& work : history_.works) {
      if (surely_before(work.begin, before->taken)) history_.handed_in.insert(work.item);
    }
  }

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
    if (event.kind == "fault") faults_.add_fault(event, at(event));
    if (event.kind == "proof") faults_.add_proof(event, at(event));
    if (event.kind == "proc") history_.processes.add(event, proc_time(event));
    if (event.kind == "target") add_target(event);
    if (event.kind == "work") add_work_event(event);
    if (event.kind == "item")
      sight(event.seq, text_of(data, "item"), text_of(data, "state"), at(event));
    if (event.kind == "snapshot") add_snapshot(event);
    if (event.kind == "file") add_file(event);
    if (event.kind == "signal") add_signal(event);
    if (event.kind == "action" && text_of(data, "what") == "command") add_command(event);
    if (event.kind == "facts") history_.hostnames[event.node] = text_of(data, "hostname");
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
    const std::string edge = text_of(event.data, "edge");
    if (edge == "sample") return at(event);
    return seen(event, edge == "exited" ? "log" : "processes");
  }

  void add_target(const Event& event) {
    const std::string name = text_of(event.data, "event");
    const std::string seat = text_of(event.data, "seat");
    const std::string text = text_of(event.data, "text");
    const Span when = seen(event, "log");
    const Json* fields = field(event.data, "fields");
    Said& said = history_.said.emplace_back(Said{event.seq, name, seat, text, when, {}});
    if (fields != nullptr && fields->is_object()) {
      for (const auto& [key, value] : fields->items()) said.fields[key] = scalar_text(value);
    }
    const scenario::EventPattern* pattern = case_.target->event(name);
    if (pattern == nullptr || pattern->progress.empty() || fields == nullptr) return;
    const Json* counter = field(*fields, pattern->progress.c_str());
    const auto value = counter == nullptr ? std::nullopt : scalar_number(*counter);
    if (!value) return;
    const Json* item = field(*fields, "item");
    const std::string item_name = item == nullptr ? "" : scalar_text(*item);
    const auto key = std::pair{seat, item_name};
    const auto [highest, first] = counters_.try_emplace(key, *value);
    if (!first && *value <= highest->second) return;  // said again is no progress
    highest->second = *value;
    history_.progress.push_back(
        {event.seq, seat, text.empty() ? name : text, when, item_name, *value});
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
          {event.seq, seat, text_of(event.data, "event") + " " + item, when, item, std::nullopt});
    }
  }

  void sight(std::uint64_t seq, const std::string& item, const std::string& state, Span when) {
    history_.sightings[item].push_back({seq, state, when});
  }

  void add_snapshot(const Event& event) {
    if (text_of(event.data, "scope") == "foreign") {
      add_foreign(event);
      return;
    }
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

  void add_foreign(const Event& event) {
    ForeignSnapshot snapshot;
    snapshot.seq = event.seq;
    snapshot.node = event.node;
    snapshot.when = text_of(event.data, "when");
    snapshot.clean = flag_of(event.data, "clean", false);
    const Json* what = field(event.data, "what");
    if (what == nullptr) return;
    snapshot.boot = text_of(*what, "boot");
    for (const Json& file : list_of(*what, "files")) {
      snapshot.files[text_of(file, "path")] = text_of(file, "sha");
    }
    for (const Json& process : list_of(*what, "processes")) {
      snapshot.processes.push_back({integer_of(process, "pid").value_or(0),
                                    integer_of(process, "start").value_or(0),
                                    text_of(process, "cmd")});
    }
    history_.foreign.push_back(std::move(snapshot));
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

  void add_file(const Event& event) {
    const Json& data = event.data;
    const std::string role = text_of(data, "role");
    if (role == "output") add_output(event);
    if (role == "checkpoint" || role == "pointer") {
      history_.checkpoints.push_back({event.seq, role == "pointer", text_of(data, "when"),
                                      text_of(data, "seat"), integer_of(data, "step"),
                                      text_of(data, "path"), text_of(data, "sha"),
                                      text_of(data, "listed")});
    }
  }

  void add_signal(const Event& event) {
    history_.signals.push_back({event.seq, event.node, integer_of(event.data, "pid").value_or(0),
                                text_of(event.data, "sig"), text_of(event.data, "by"), at(event)});
  }

  void add_command(const Event& event) {
    const Json* outcome = field(event.data, "outcome");
    if (text_of(event.data, "edge") != "end" || outcome == nullptr) return;
    history_.commands.push_back({event.seq, event.node, text_of(event.data, "name"),
                                 text_of(*outcome, "end"), integer_of(*outcome, "status"),
                                 text_of(*outcome, "why")});
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

  const std::vector<Event>& events_;
  const std::vector<Event>& healed_;
  const Case& case_;
  History history_;
  FaultRecords faults_;
  std::map<std::pair<std::string, std::string>, double> counters_;  // seat and item -> highest
};

}  // namespace

History history_of(const journal::Journal& journal, const std::vector<Event>& healed,
                   const Case& c) {
  return Builder(journal, healed, c).build();
}

}  // namespace unplug::check
