// The faults of a run, by instance: what was planned, what was seen of it, and whether that is
// proof. docs/journal.md says what confirms a fault; `state` events are not believed for it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "check/finding.hpp"
#include "check/span.hpp"
#include "journal/event.hpp"
#include "scenario/injector.hpp"
#include "scenario/scenario.hpp"

namespace unplug::check {

struct Victim {
  std::string part, seat;
  std::optional<std::int64_t> pid, start;
};

struct FaultState {
  std::uint64_t seq = 0;
  std::string role, node, state, by, why, by_hand;
  Span when;
};

struct FaultProof {
  std::uint64_t seq = 0;
  std::string role, node, says;
  bool of_effect = true;    // else of the revert
  Span when;                // asked, answered
  bool afterwards = false;  // by the record of a node that was cut off: says that it was, not when
};

struct FaultRole {
  std::string node;
  bool acts = false;
};

struct FaultRecord {
  std::string id, instance, injector, trigger;
  Victim victim;
  std::string node;     // the victim's; else that of the first acting role
  std::string subject;  // the model or package that it changes, or ""
  scenario::Cuts cuts = scenario::Cuts::kNone;
  bool lasting = false;
  std::optional<std::int64_t> hold, drawn;
  std::map<std::string, FaultRole> roles;
  std::vector<FaultState> states;  // in the order of the journal, what `heal` found after it
  std::vector<FaultProof> proofs;
  std::optional<Span> fired;      // at the victim
  std::optional<Span> reverting;  // the first of all roles
  std::optional<Span> reverted;   // verified on every acting role: the last of them
  std::optional<double> asked, reached;

  bool confirmed = false;
  std::string why;                // confirmed or not
  std::optional<Span> in_effect;  // first and last proof
  std::vector<Witness> witnesses;
  bool unhealed = false;
  std::vector<std::string> by_hand;

  const FaultState* first(const std::string& state, const std::string& role = {}) const;
  const FaultState* last(const std::string& state) const;
};

// What judging a fault needs beside its events.
struct FaultRules {
  std::int64_t verify_every = 1'000'000'000;
  const scenario::Fault* fault = nullptr;  // as the scenario wrote it
  std::optional<Span> started;             // phase `run` began
  bool closed = true;                      // the journal is not broken off
};

// Fills in `fired` and what follows it.
void settle(FaultRecord& fault, const FaultRules& rules);

}  // namespace unplug::check
