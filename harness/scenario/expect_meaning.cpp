// What an expectation needs of the scenario's faults and of the target before it can be judged.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "scenario/read_scenario.hpp"

namespace unplug::scenario {
namespace {

constexpr std::array kResponses = {"timeout", "cancellation", "restart_point",
                                   "refuses", "honest_exit",  "progress"};

class Meaning {
 public:
  Meaning(Sheet& sheet, const Value& value, const Context& context, const Scenario& scenario,
          Expectation& expect)
      : sheet_(sheet), value_(value), context_(context), scenario_(scenario), expect_(expect) {}

  void check() {
    if (expect_.check == "output" && expect_.compare.empty()) expect_.compare = "bytes";
    if (std::ranges::find(kResponses, expect_.check) != kResponses.end()) response();
    if (context_.target == nullptr) return;
    const Target& target = *context_.target;
    if (expect_.check == "output") output(target);
    if (expect_.check == "conservation") needs(target.items.has_value(), "work items", kItems);
    if (expect_.check == "exclusive_claim") exclusive_claim(target);
    if (expect_.check == "timeout") events(target);
    if (expect_.check == "cancellation") cancellation(target);
    if (expect_.check == "restart_point") restart_point(target);
    if (expect_.check == "refuses") {
      needs(any_event([](const auto& event) { return !event.refuses.empty(); }),
            "an event that is a refusal", "has no event with \"refuses\"");
    }
    if (expect_.check == "progress") {
      needs(any_event([](const auto& event) { return !event.progress.empty(); }),
            "an event that counts", "has no event with \"progress\"");
    }
    if (expect_.check == "honest_exit") {
      needs(!target.launcher.empty(), "a launcher", "names no \"launcher\"");
    }
  }

 private:
  static constexpr const char* kItems = "declares no \"items\"";

  void response() {
    if (scenario_.faults.empty()) {
      sheet_.complain(
          value_,
          fmt::format("check \"{}\" judges a response, and there is no fault", expect_.check),
          "write a fault, or leave the check out");
    }
    if (expect_.since == "reverted") reverted();
  }

  // A lasting fault is never reverted.
  void reverted() {
    for (const Fault& fault : scenario_.faults) {
      const bool asked =
          expect_.of.empty() || std::ranges::find(expect_.of, fault.id) != expect_.of.end();
      const Injector* injector = context_.injector(fault.injector);
      if (!asked || injector == nullptr || !injector->lasting) continue;
      sheet_.complain(*value_.find("since"),
                      fmt::format("fault \"{}\" is lasting and never reverted", fault.id),
                      "write \"since\": \"fired\"");
    }
  }

  void output(const Target& target) {
    if (!needs(target.items.has_value(), "work items", kItems)) return;
    needs(!target.items->outputs.empty(), "outputs", "declares none in \"items\"");
    if (expect_.compare == "frames" && target.verb("frames") == nullptr) {
      sheet_.complain(*value_.find("compare"), "only a target can decode its frames",
                      fmt::format("target \"{}\" has no verb \"frames\"", target.name));
    }
  }

  void exclusive_claim(const Target& target) {
    if (!needs(target.items.has_value(), "work items", kItems)) return;
    needs(target.items->fields.contains("node"), "to know who holds an item",
          "tells no \"node\" in the \"fields\" of its \"items\"");
  }

  // Outcomes that can be told from certain events only.
  void events(const Target& target) {
    const auto works = [this](Work which) {
      return any_event([which](const auto& event) { return event.work == which; });
    };
    const bool counts = any_event([](const auto& event) { return !event.progress.empty(); });
    if (expect_.outcome == "reassigned" && (!works(Work::kBegin) || !works(Work::kEnd))) {
      sheet_.complain(*value_.find("outcome"),
                      "\"reassigned\" is told by events that begin and end work",
                      fmt::format("target \"{}\" emits none", target.name));
    }
    if (expect_.outcome == "rides_through" && !counts && !works(Work::kEnd)) {
      sheet_.complain(*value_.find("outcome"),
                      "\"rides_through\" is told by events that show progress",
                      fmt::format("target \"{}\" emits none", target.name));
    }
  }

  void cancellation(const Target& target) {
    if (expect_.items.empty()) return;
    if (!target.items || target.items->cancelled.empty()) {
      sheet_.complain(
          *value_.find("items"), "only items that can be cancelled can be named",
          fmt::format("target \"{}\" names no \"cancelled\" in its \"items\"", target.name));
    }
    if (expect_.exit) {
      sheet_.complain(*value_.find("exit"), "\"exit\" is of a job that ends, not of some items",
                      "leave it out");
    }
  }

  void restart_point(const Target& target) {
    if (target.kind == "farm") needs(target.items.has_value(), "work items", kItems);
    if (target.kind != "farm" || !expect_.lost_at_most) return;
    sheet_.complain(*value_.find("lost_at_most"), "\"lost_at_most\" counts steps",
                    fmt::format("target \"{}\" is a farm: leave it out", target.name));
  }

  template <class F>
  bool any_event(F like) const {
    return std::ranges::any_of(context_.target->events, like);
  }

  bool needs(bool there, const char* what, const char* lacks) {
    if (there) return true;
    sheet_.complain(*value_.find("check"),
                    fmt::format("check \"{}\" needs {}", expect_.check, what),
                    fmt::format("target \"{}\" {}", context_.target->name, lacks));
    return false;
  }

  Sheet& sheet_;
  const Value& value_;
  const Context& context_;
  const Scenario& scenario_;
  Expectation& expect_;
};

}  // namespace

void check_meaning(Sheet& sheet, const Value& value, const Context& context,
                   const Scenario& scenario, Expectation& expect) {
  Meaning(sheet, value, context, scenario, expect).check();
}

}  // namespace unplug::scenario
