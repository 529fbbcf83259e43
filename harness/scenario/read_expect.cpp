#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "scenario/read_scenario.hpp"

namespace unplug::scenario {
namespace {

// What each check takes beside "check" and "name".
const std::map<std::string, std::vector<std::string>> kKeys = {
    {"conservation", {}},
    {"timeout", {"of", "outcome", "within", "since"}},
    {"cleanup", {"of", "within", "allow"}},
    {"output", {"compare"}},
};

const std::vector<std::string> kLaterChecks = {"cancellation", "restart_point", "exclusive_claim",
                                               "refuses",      "honest_exit",   "progress",
                                               "command"};

const std::vector<std::string> kOutcomes = {"unaffected", "rides_through", "fails_clean",
                                            "reassigned"};

class ExpectReader {
 public:
  ExpectReader(Sheet& sheet, const Value& value, const Context& context, const Scenario& scenario)
      : sheet_(sheet),
        value_(value),
        object_(sheet, value, "expectation"),
        context_(context),
        scenario_(scenario) {}

  Expectation read() {
    object_.remarks();
    object_.may("name", expect_.name);
    object_.later("if");
    object_.later("known_issue");
    const Value* check = object_.need("check", "\"conservation\"");
    for (const char* key : {"of", "outcome", "within", "since", "compare", "allow"}) one(key);
    if (check == nullptr || !known(*check)) {
      object_.rest();  // keys of a check that is not known
      return std::move(expect_);
    }
    belongs();
    needs(*check);
    return std::move(expect_);
  }

 private:
  void one(const std::string& key) {
    const Value* value = object_.find(key);
    if (value == nullptr) return;
    if (key == "of") of(*value);
    if (key == "outcome") outcome(*value);
    if (key == "within") sheet_.read(*value, key, expect_.within);
    if (key == "since") sheet_.read_word(*value, key, {"fired", "reverted"}, expect_.since);
    if (key == "compare") compare(*value);
    if (key == "allow") sheet_.read(*value, key, expect_.allow);
  }

  void of(const Value& list) {
    if (!sheet_.read(list, "of", expect_.of)) return;
    std::vector<std::string> ids;
    for (const Fault& fault : scenario_.faults) ids.push_back(fault.id);
    for (std::size_t i = 0; i < expect_.of.size(); ++i) {
      if (std::ranges::find(ids, expect_.of[i]) != ids.end()) continue;
      sheet_.unknown(list.items[i].position, "fault", expect_.of[i], ids);
    }
  }

  void outcome(const Value& value) {
    if (value.kind == Value::Kind::kString && value.text == "refused") {
      sheet_.complain(value, "\"refused\" is what the check \"refuses\" judges",
                      "for \"timeout\": " + listed(kOutcomes));
      return;
    }
    sheet_.read_word(value, "outcome", kOutcomes, expect_.outcome);
  }

  void compare(const Value& value) {
    for (const char* later : {"tokens", "tensors"}) {
      if (value.kind != Value::Kind::kString || value.text != later) continue;
      sheet_.complain(value, fmt::format("this build cannot compare {} yet", later),
                      R"(there are "bytes" and "frames")");
      return;
    }
    sheet_.read_word(value, "compare", {"bytes", "frames"}, expect_.compare);
  }

  bool known(const Value& check) {
    if (!sheet_.read(check, "check", expect_.check)) return false;
    if (kKeys.contains(expect_.check)) return true;
    if (std::ranges::find(kLaterChecks, expect_.check) != kLaterChecks.end()) {
      sheet_.complain(check, fmt::format("this build has no check \"{}\" yet", expect_.check),
                      "there are " + listed(check_names()));
      return false;
    }
    std::vector<std::string> all = check_names();
    all.insert(all.end(), kLaterChecks.begin(), kLaterChecks.end());
    sheet_.unknown(check.position, "check", expect_.check, all);
    return false;
  }

  void belongs() {
    const auto& keys = kKeys.at(expect_.check);
    for (const char* key : {"of", "outcome", "within", "since", "compare", "allow"}) {
      const Value* value = value_.find(key);
      if (value == nullptr || std::ranges::find(keys, key) != keys.end()) continue;
      sheet_.complain(*value, fmt::format("check \"{}\" has no \"{}\"", expect_.check, key),
                      "leave it out");
    }
  }

  void needs(const Value& check) {
    if (expect_.check == "timeout") timeout();
    if (expect_.check == "output" && expect_.compare.empty()) expect_.compare = "bytes";
    const Target* target = context_.target;
    if (target == nullptr) return;
    const bool items = expect_.check == "conservation" || expect_.check == "output";
    if (items && !target->items) {
      sheet_.complain(check, fmt::format("check \"{}\" needs work items", expect_.check),
                      fmt::format("target \"{}\" declares no \"items\"", target->name));
    } else if (expect_.check == "output" && target->items->outputs.empty()) {
      sheet_.complain(check, "check \"output\" needs outputs",
                      fmt::format("target \"{}\" declares none in \"items\"", target->name));
    }
    if (expect_.compare == "frames" && target->verb("frames") == nullptr) {
      sheet_.complain(*value_.find("compare"), "only a target can decode its frames",
                      fmt::format("target \"{}\" has no verb \"frames\"", target->name));
    }
  }

  void timeout() {
    if (value_.find("outcome") == nullptr) {
      sheet_.complain(value_, "check \"timeout\" needs an \"outcome\"",
                      "write \"outcome\": one of " + listed(kOutcomes));
    }
    if (value_.find("within") == nullptr) {
      sheet_.complain(value_, "check \"timeout\" needs a \"within\"", "write \"within\": \"15s\"");
    }
    if (scenario_.faults.empty()) {
      sheet_.complain(value_, "check \"timeout\" judges a response, and there is no fault",
                      "write a fault, or leave the check out");
    }
    if (expect_.since == "reverted") reverted();
    events();
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

  // Outcomes that can be told from certain events only.
  void events() {
    if (context_.target == nullptr || expect_.outcome.empty()) return;
    const auto& all = context_.target->events;
    const auto works = [](Work which) {
      return [which](const EventPattern& event) { return event.work == which; };
    };
    const auto counts = [](const EventPattern& event) { return !event.progress.empty(); };
    const Value& outcome = *value_.find("outcome");
    if (expect_.outcome == "reassigned" && (std::ranges::none_of(all, works(Work::kBegin)) ||
                                            std::ranges::none_of(all, works(Work::kEnd)))) {
      sheet_.complain(outcome, "\"reassigned\" is told by events that begin and end work",
                      fmt::format("target \"{}\" emits none", context_.target->name));
    }
    if (expect_.outcome == "rides_through" && std::ranges::none_of(all, counts) &&
        std::ranges::none_of(all, works(Work::kEnd))) {
      sheet_.complain(outcome, "\"rides_through\" is told by events that show progress",
                      fmt::format("target \"{}\" emits none", context_.target->name));
    }
  }

  Sheet& sheet_;
  const Value& value_;
  Object object_;
  const Context& context_;
  const Scenario& scenario_;
  Expectation expect_;
};

}  // namespace

void read_expectations(Sheet& sheet, const Value* list, const Context& context,
                       Scenario& scenario) {
  if (list == nullptr || !sheet.is_list(*list, "expect")) return;
  for (const Value& value : list->items) {
    scenario.expect.push_back(ExpectReader(sheet, value, context, scenario).read());
  }
  if (list->items.empty()) {
    sheet.complain(*list, "nothing is expected, so nothing can be judged",
                   R"(write [{"check": "cleanup"}])");
  }
}

}  // namespace unplug::scenario
