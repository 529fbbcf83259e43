// One experiment: a target, a workload, faults, expectations, limits (scenario.json).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/units.hpp"

namespace unplug::scenario {

// "worker 2", "all worker", "any worker" or "node 1". For a process parameter the word is a part.
struct Selector {
  enum class Pick { kOne, kAll, kAny };
  Pick pick = Pick::kOne;
  std::string word;
  int number = 1;  // when kOne

  bool operator==(const Selector&) const = default;
};
std::optional<Selector> parse_selector(const std::string& text);
std::string to_text(const Selector& selector);

struct At {
  Duration time{};
};  // after `started`
struct Between {
  Duration earliest{}, latest{};
};  // drawn from the seed
struct After {
  std::string fault;
  Duration plus{};
};
struct With {
  std::string fault;
};
struct BeforeStart {};
struct DuringRecover {};
struct When {
  std::string event;
  std::optional<Selector> from;               // "from" or "rank"
  std::map<std::string, std::string> fields;  // strings compared equal
  std::map<std::string, double> numbers;      // numbers compared at least
  int nth = 1;
  Duration plus{};
};
using Trigger = std::variant<At, Between, After, With, BeforeStart, DuringRecover, When>;

struct ParamValue {
  std::string text;                  // scalars, canonical text
  std::vector<std::string> between;  // for a link: two selectors
};

struct Fault {
  std::string id;
  std::string injector;
  std::map<std::string, ParamValue> params;
  Trigger trigger = At{};
  std::optional<Duration> hold;  // "for"; absent for lasting faults
  // Largest difference between asked and reached; steps for a `when` number, else time.
  std::optional<double> tolerance_steps;
  std::optional<Duration> tolerance_time;
  // How far apart at most its instances, and the faults that are fired `with` it, may be fired.
  std::optional<Duration> skew;
};

// How a process should end: by a code, or by a signal ("TERM").
struct WantedExit {
  std::optional<int> code;
  std::string signal;
};

struct Expectation {
  std::string name;  // for reports; "" = the check's name
  std::string check;
  std::vector<std::string> of;  // fault ids; empty = all
  std::string outcome;          // timeout
  std::optional<Duration> within;
  std::string since;                // "fired" (default) or "reverted"
  std::string compare;              // output: bytes or frames
  std::vector<std::string> allow;   // cleanup: path globs that may stay
  std::vector<std::string> items;   // cancellation: globs of items; empty = the whole job
  std::optional<WantedExit> exit;   // cancellation: of the launcher, else of the job's processes
  std::optional<int> lost_at_most;  // restart_point: steps
  std::optional<Duration> stop_within;  // exclusive_claim
  std::string names;                    // refuses: what the message must name
  std::optional<double> rate;           // progress: a fraction of the baseline's
  std::optional<Selector> node;         // command: where
  std::string run;                      // command: a line for sh
};

struct Workload {
  std::string verb;
  std::vector<std::string> args;
};

struct Scenario {
  std::string name;
  std::string asks;
  std::string target;
  std::map<std::string, std::vector<int>> place;  // place -> node positions from 1
  std::map<std::string, std::string> params;      // of the target, as text
  Workload workload;
  std::vector<Fault> faults;
  std::vector<Expectation> expect;
  Duration run_limit = std::chrono::seconds{60};
  std::optional<Duration> settle;  // default: outage x 2 + 10 s
  std::uint64_t seed = 1;
};

// The names of the checks an expectation may use.
const std::vector<std::string>& check_names();

}  // namespace unplug::scenario
