#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "scenario/read_scenario.hpp"

namespace unplug::scenario {
namespace {

// What a check takes beside "check" and "name", and which of it must be there.
struct Keys {
  std::vector<std::string> may, must;
};
const std::map<std::string, Keys> kKeys = {
    {"timeout", {{"of", "since"}, {"outcome", "within"}}},
    {"cancellation", {{"of", "items", "exit"}, {"within"}}},
    {"cleanup", {{"of", "within", "allow"}, {}}},
    {"restart_point", {{"of", "lost_at_most"}, {}}},
    {"conservation", {}},
    {"exclusive_claim", {{"stop_within"}, {}}},
    {"output", {{"compare"}, {}}},
    {"refuses", {{"of", "names"}, {"within"}}},
    {"honest_exit", {{"of"}, {}}},
    {"progress", {{"of", "rate"}, {"within"}}},
    {"command", {{}, {"node", "run", "within"}}},
};

// Every key that some check takes, with what to write where it is missing.
const std::vector<std::pair<std::string, std::string>> kAllKeys = {
    {"of", ""},
    {"outcome", "one of "},
    {"within", "\"15s\""},
    {"since", ""},
    {"compare", ""},
    {"allow", ""},
    {"items", ""},
    {"exit", ""},
    {"lost_at_most", ""},
    {"stop_within", ""},
    {"names", ""},
    {"rate", ""},
    {"node", "\"node 1\""},
    {"run", R"("test -e /var/log/farm")"},
};

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
    for (const auto& [key, example] : kAllKeys) one(key);
    if (check == nullptr || !known(*check)) {
      object_.rest();  // keys of a check that is not known
      return std::move(expect_);
    }
    belongs();
    check_meaning(sheet_, value_, context_, scenario_, expect_);
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
    if (key == "items") items(*value);
    if (key == "exit") exit(*value);
    if (key == "lost_at_most") lost(*value);
    if (key == "stop_within") sheet_.read(*value, key, expect_.stop_within);
    if (key == "names") sheet_.read(*value, key, expect_.names);
    if (key == "rate") rate(*value);
    if (key == "node") node(*value);
    if (key == "run") sheet_.read(*value, key, expect_.run);
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

  void items(const Value& list) {
    if (!sheet_.read(list, "items", expect_.items) || !expect_.items.empty()) return;
    sheet_.complain(list, "\"items\" names none",
                    "write globs such as [\"shot-*\"], or leave it out: the whole job");
  }

  // 130, or "TERM".
  void exit(const Value& value) {
    WantedExit& exit = expect_.exit.emplace();
    if (value.kind == Value::Kind::kString) {
      read_scalar(sheet_, value, "exit", "signal", exit.signal);
    } else if (sheet_.read(value, "exit", exit.code) && (*exit.code < 0 || *exit.code > 255)) {
      sheet_.complain(value, fmt::format("nothing exits with {}", *exit.code),
                      "write 0 to 255, or a signal such as \"TERM\"");
    }
  }

  void lost(const Value& value) {
    int steps = 0;
    if (!sheet_.read(value, "lost_at_most", steps)) return;
    if (steps >= 0) {
      expect_.lost_at_most = steps;
      return;
    }
    sheet_.complain(value, "fewer than no steps cannot be lost", "write 0 or more");
  }

  void rate(const Value& value) {
    if (!sheet_.read(value, "rate", expect_.rate)) return;
    if (*expect_.rate > 0 && *expect_.rate <= 1) return;
    sheet_.complain(value, "\"rate\" is a fraction of the undisturbed run's rate",
                    "write a number above 0 and up to 1, such as 0.5");
  }

  void node(const Value& value) {
    expect_.node = read_selector(sheet_, value, "node", Subject::kNode, context_, scenario_);
    if (!expect_.node || expect_.node->pick == Selector::Pick::kOne) return;
    sheet_.complain(value, fmt::format("\"{}\" is not one node", value.text),
                    R"(write "node 1", or "worker 2")");
  }

  bool known(const Value& check) {
    if (!sheet_.read(check, "check", expect_.check)) return false;
    if (kKeys.contains(expect_.check)) return true;
    sheet_.unknown(check.position, "check", expect_.check, check_names());
    return false;
  }

  void belongs() {
    const Keys& keys = kKeys.at(expect_.check);
    for (const auto& [key, example] : kAllKeys) {
      const Value* value = value_.find(key);
      const bool must = std::ranges::find(keys.must, key) != keys.must.end();
      const bool may = must || std::ranges::find(keys.may, key) != keys.may.end();
      if (value != nullptr && !may) {
        sheet_.complain(*value, fmt::format("check \"{}\" has no \"{}\"", expect_.check, key),
                        "leave it out");
      }
      if (value == nullptr && must) missing(key, example);
    }
  }

  void missing(const std::string& key, const std::string& example) {
    sheet_.complain(
        value_,
        fmt::format("check \"{}\" needs {} \"{}\"", expect_.check, key == "outcome" ? "an" : "a",
                    key),
        fmt::format("write \"{}\": {}{}", key, example, key == "outcome" ? listed(kOutcomes) : ""));
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
