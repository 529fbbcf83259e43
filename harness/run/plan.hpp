// scenario + seed + lab -> what a run will do. Pure: no clock, no node, no file.
//
//   Bundle --plan()--> Plan: seats, fault instances with their script calls, target calls
//
// `unplug plan` prints it, the run engine carries it out, and tests drive it in simulated time
// (plan_timeline.hpp) over thousands of seeds.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "scenario/load.hpp"
#include "scenario/place.hpp"

namespace unplug::run {

// Where the controller itself takes part, as a witness: it looks, and nothing acts on it.
inline const std::string kController = "controller";

using Vars = std::vector<std::pair<std::string, std::string>>;

// One script call on a node, as docs/node-protocol.md defines it.
struct Call {
  std::string node;
  std::string name;  // injector or target
  std::string verb;
  Vars vars;
  std::vector<std::string> args;
  Duration within = std::chrono::seconds{10};
  std::string seat;   // of a target's call
  std::string own{};  // the user's own line (`command`), in the home folder instead

  // "UNPLUG_X=1 sh sh/verb.sh NAME VERB ARGS"
  std::string line() const;
};

struct SeatPlan {
  scenario::Seat seat;
  std::string node;
};

struct RolePlan {
  std::string role;
  std::string node;
  bool acts = false;
  Vars vars;
};

// When in a run a fault lives: before the target's start, beside its workload, or while it is
// brought back.
enum class Moment { kBeforeStart, kRun, kRecover };

struct Victim {
  std::string part;
  scenario::Seat seat;
};

// One fault at one victim: what has a state folder, a guard and a life of its own.
struct FaultPlan {
  std::string id;
  std::string instance;
  std::string injector;
  std::optional<Victim> victim;
  std::string seat;   // of the victim, or that names the victim's node; empty for "node 1"
  std::string thing;  // what it holds while it is in effect: "worker@worker-2"
  scenario::Trigger trigger;
  Moment moment = Moment::kRun;
  std::string trigger_text;       // for people: "when frame from worker 2 has n >= 8"
  std::optional<Duration> drawn;  // of `between`: after `started`
  bool armed_on_node = false;     // event and victim share a node: no round trip
  Vars trigger_vars;              // of the guard, when armed on the node
  bool lasting = false;
  scenario::Cuts cuts = scenario::Cuts::kNone;
  bool survives_reboot = false;
  Duration hold{};   // 0 when lasting
  Duration lease{};  // fault lease, renewed
  Duration hard{};   // after fire; no renewal passes it
  Duration verify_every{};
  Duration undo_settle{};
  std::vector<RolePlan> roles;

  Call call(const RolePlan& role, const std::string& verb) const;
  Call arm_call() const;  // of the acting role
  Call guard_call() const;
  const RolePlan& actor() const;  // the role that fires; each instance has exactly one
  bool cuts_off() const;          // nobody reaches its node while it lasts
};

struct Plan {
  std::uint64_t seed = 0;
  std::vector<SeatPlan> seats;  // in the order of the target's places
  std::vector<FaultPlan> faults;
  std::vector<std::string> nodes;  // that take part, by lab order
  std::vector<std::string> hosts;  // those, and kController where a role is at it
  Duration outage{};               // longest hold, for the default of settle

  const std::string& node_of(const scenario::Seat& seat) const;
  const SeatPlan* seat(const std::string& id) const;  // by "worker-2"
};

// Throws Error(kUsage) where scenario and lab do not fit together in a way that the readers
// cannot see; also where two faults could hold one thing at once, after the draws of this seed.
Plan plan(const scenario::Bundle& bundle, std::uint64_t seed);

// The target's calls of one verb: groups in order, the calls of a group at the same time. Empty
// when the target has no such verb.
std::vector<std::vector<Call>> target_calls(const scenario::Bundle& bundle, const Plan& plan,
                                            const std::string& verb,
                                            const std::vector<std::string>& args = {});

// The users' own commands, by the index of their expectation as text (Call::name).
std::vector<Call> command_calls(const scenario::Bundle& bundle, const Plan& plan);

// The node that "node 1" or "worker 2" names; throws Error(kUsage) when there is none.
const std::string& node_named(const scenario::Lab& lab, const Plan& plan,
                              const scenario::Selector& selector);

// Everything a run may call, for `unplug plan`: "always" calls are made by every run that ends
// well, the others only as `when` says.
struct PlannedCall {
  std::string phase;
  std::string when;  // "" = always
  Call call;
};
std::vector<PlannedCall> planned_calls(const scenario::Bundle& bundle, const Plan& plan);

// A path of target.json as a node sees it: $SCRATCH, $UNPLUG_LOGS and $SEAT resolved. Logs are
// relative to the run's folder.
std::string resolved(const std::string& path, const std::string& scratch, const std::string& seat);

}  // namespace unplug::run
