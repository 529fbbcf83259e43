#include "check/faults.hpp"

#include <fmt/format.h>

#include <cmath>

namespace unplug::check {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

std::vector<std::string> acting_roles(const FaultRecord& fault) {
  std::vector<std::string> names;
  for (const auto& [name, role] : fault.roles) {
    if (role.acts) names.push_back(name);
  }
  return names;
}

std::string at_role(const FaultRecord& fault, const std::string& role) {
  const auto found = fault.roles.find(role);
  const std::string node = found == fault.roles.end() ? "" : found->second.node;
  return node.empty() ? role : role + " (" + node + ")";
}

// --- when ------------------------------------------------------------------------------------

void find_times(FaultRecord& fault) {
  std::optional<Span> at_victim, anywhere;
  for (const FaultState& state : fault.states) {
    if (state.state == "fired") {
      if (state.node == fault.node && !at_victim) at_victim = state.when;
      anywhere = anywhere ? hull(*anywhere, state.when) : state.when;
    } else if (state.state == "reverting" && !fault.reverting) {
      fault.reverting = state.when;
    }
  }
  fault.fired = at_victim ? at_victim : anywhere;
  for (const std::string& role : acting_roles(fault)) {
    const FaultState* reverted = fault.first("reverted", role);
    if (reverted == nullptr) {
      fault.reverted.reset();
      return;
    }
    if (!fault.reverted || fault.reverted->hi < reverted->when.hi) fault.reverted = reverted->when;
  }
}

// --- in effect -------------------------------------------------------------------------------

// One role's samples: the first yes after fire, and nothing but yes from then on.
class RoleProof {
 public:
  RoleProof(const FaultRecord& fault, std::string role) : fault_(fault), role_(std::move(role)) {
    for (const FaultProof& proof : fault.proofs) {
      if (proof.role == role_ && proof.of_effect && proof.when.lo >= fault.fired->lo) take(proof);
    }
  }

  // "" when it proves the fault, else why not.
  std::string missing(std::int64_t verify_every) const {
    if (first_ == nullptr) return fmt::format("no proof at {}{}", at_role(fault_, role_), seen());
    if (broken_ != nullptr) {
      return fmt::format("{} said {} while it should have held (#{})", at_role(fault_, role_),
                         broken_->says, broken_->seq);
    }
    return fault_.lasting ? missing_second() : missing_last(verify_every);
  }
  const FaultProof* first() const { return first_; }
  const FaultProof* last() const { return last_; }

 private:
  // A record that is read afterwards speaks of the hold, whenever it is read.
  bool surely_over(const FaultProof& proof) const {
    return !proof.afterwards && fault_.reverting && proof.when.lo > fault_.reverting->hi;
  }
  bool perhaps_over(const FaultProof& proof) const {
    return fault_.reverting && proof.when.hi >= fault_.reverting->lo;
  }
  void take(const FaultProof& proof) {
    if (surely_over(proof)) return;
    if (proof.says == "yes") {
      if (first_ == nullptr) first_ = &proof;
      last_ = &proof;
      return;
    }
    samples_no_ = &proof;
    // A sample that was answered while the undo had begun says nothing about the hold.
    if (first_ != nullptr && broken_ == nullptr && !perhaps_over(proof)) broken_ = &proof;
  }
  std::string seen() const {
    if (samples_no_ == nullptr) return ": it was never looked at";
    return fmt::format(": it said {} (#{})", samples_no_->says, samples_no_->seq);
  }
  std::string missing_second() const {
    if (last_->when.lo - first_->when.lo >= kSecond) return "";
    return fmt::format("{} was seen once, not twice 1 s apart", at_role(fault_, role_));
  }
  std::string missing_last(std::int64_t verify_every) const {
    if (!fault_.hold) return "";
    const std::int64_t needed = fault_.fired->lo + *fault_.hold - verify_every;
    if (last_->when.hi >= needed) return "";
    return fmt::format("{} was last seen in effect {} after fire, of {} planned",
                       at_role(fault_, role_), people(last_->when.hi - fault_.fired->lo),
                       people(*fault_.hold));
  }

  const FaultRecord& fault_;
  std::string role_;
  const FaultProof* first_ = nullptr;
  const FaultProof* last_ = nullptr;
  const FaultProof* broken_ = nullptr;
  const FaultProof* samples_no_ = nullptr;
};

std::string not_fired(const FaultRecord& fault) {
  for (const char* state : {"not_triggered", "no_effect", "stranded"}) {
    const FaultState* found = fault.first(state);
    if (found != nullptr && fault.last("fired") == nullptr) {
      return fmt::format("{}{}",
                         std::string(state) == "not_triggered" ? "not triggered" : "not fired",
                         found->why.empty() ? "" : ": " + found->why);
    }
  }
  if (acting_roles(fault).empty()) return "no acting role was planned";
  for (const std::string& role : acting_roles(fault)) {
    if (fault.first("fired", role) == nullptr) return "never fired at " + at_role(fault, role);
  }
  return fault.fired ? "" : "never fired";
}

std::string said_itself(const FaultRecord& fault, const char* state, const char* words) {
  const FaultState* found = fault.first(state);
  if (found == nullptr) return "";
  return fmt::format("{} at {}{}", words, at_role(fault, found->role),
                     found->why.empty() ? "" : ": " + found->why);
}

// --- asked and reached -----------------------------------------------------------------------

std::optional<std::int64_t> planned_time(const FaultRecord& fault, const FaultRules& rules) {
  if (rules.fault == nullptr || !rules.started) return std::nullopt;
  if (const auto* at = std::get_if<scenario::At>(&rules.fault->trigger)) return at->time.count();
  if (std::holds_alternative<scenario::Between>(rules.fault->trigger)) return fault.drawn;
  return std::nullopt;
}

std::string off_by_time(const FaultRecord& fault, const FaultRules& rules) {
  const auto planned = planned_time(fault, rules);
  if (!planned) return "";
  const Span due{rules.started->lo + *planned, rules.started->hi + *planned};
  const std::int64_t off =
      std::max({fault.fired->lo - due.hi, due.lo - fault.fired->hi, std::int64_t{0}});
  const std::int64_t tolerance =
      rules.fault->tolerance_time ? rules.fault->tolerance_time->count() : kSecond;
  if (off <= tolerance) return "";
  return fmt::format("fired {} {} than asked; {} is tolerated", people(off),
                     fault.fired->lo > due.hi ? "later" : "earlier", people(tolerance));
}

std::string off_by_steps(const FaultRecord& fault, const FaultRules& rules) {
  const bool by_event =
      rules.fault != nullptr && std::holds_alternative<scenario::When>(rules.fault->trigger);
  if (!by_event || !fault.asked || !fault.reached) return "";
  const double tolerance = rules.fault->tolerance_steps.value_or(1);
  if (std::abs(*fault.reached - *fault.asked) <= tolerance) return "";
  return fmt::format("fired at {:g}, {:g} was asked; a difference of {:g} is tolerated",
                     *fault.reached, *fault.asked, tolerance);
}

void confirm(FaultRecord& fault, const FaultRules& rules) {
  fault.why = not_fired(fault);
  if (!fault.why.empty()) return;
  fault.why = said_itself(fault, "ended_early", "ended early");
  for (const auto& [role, where] : fault.roles) {
    const RoleProof proof(fault, role);
    if (fault.why.empty()) fault.why = proof.missing(rules.verify_every);
    if (proof.first() == nullptr || proof.first()->afterwards) continue;
    const Span seen{proof.first()->when.hi, proof.last()->when.hi};
    // In effect when every role says so: from the latest first yes to the earliest last yes.
    fault.in_effect = fault.in_effect ? Span{std::max(fault.in_effect->lo, seen.lo),
                                             std::min(fault.in_effect->hi, seen.hi)}
                                      : seen;
    fault.witnesses.push_back({proof.first()->seq, "", at_role(fault, role) + " first said yes"});
    fault.witnesses.push_back({proof.last()->seq, "", at_role(fault, role) + " last said yes"});
  }
  // Two looks at least: one alone may have been answered after the hold. Test: faults_test.cpp.
  const bool at_once = !fault.in_effect || fault.in_effect->lo < fault.in_effect->hi;
  if (fault.why.empty() && !at_once) fault.why = "its roles were not seen in effect together";
  if (fault.why.empty()) fault.why = said_itself(fault, "no_effect", "no effect");
  if (fault.why.empty()) fault.why = off_by_time(fault, rules);
  if (fault.why.empty()) fault.why = off_by_steps(fault, rules);
  fault.confirmed = fault.why.empty();
}

// --- healed ----------------------------------------------------------------------------------

// What is left at one node, in the order in which it was written: "" when nothing.
struct Left {
  bool armed = false, fired = false, over = false;
  const FaultState* stranded = nullptr;

  void take(const FaultState& state) {
    if (state.state == "armed") armed = true;
    if (state.state == "fired") fired = true;
    if (state.state == "stranded") stranded = &state;
    if (state.state == "reverted" || state.state == "disarmed" || state.state == "spent") {
      over = true;
      stranded = nullptr;
    }
  }
};

void find_left(FaultRecord& fault, const FaultRules& rules) {
  std::map<std::string, Left> nodes;
  for (const FaultState& state : fault.states) nodes[state.node].take(state);
  for (const auto& [node, left] : nodes) {
    const std::string what = fmt::format("{}: {} ({})", node.empty() ? "controller" : node,
                                         fault.instance, fault.injector);
    if (left.stranded != nullptr) {
      // Why first: an injector whose own undo does not help says there what a person can do.
      std::string how = left.stranded->why;
      if (!how.empty() && !left.stranded->by_hand.empty()) how += "; ";
      how += left.stranded->by_hand;
      fault.by_hand.push_back(how.empty() ? what + " is stranded" : what + ": " + how);
    } else if (left.fired && !left.over && !fault.lasting) {
      fault.by_hand.push_back(what + " was fired and was never seen undone");
    } else if (left.armed && !left.fired && !left.over && !rules.closed) {
      fault.by_hand.push_back(what + " was armed when the journal broke off and may have fired");
    }
  }
  std::map<std::string, const FaultProof*> last;
  for (const FaultProof& proof : fault.proofs) {
    if (!proof.of_effect) last[proof.role] = &proof;
  }
  for (const auto& [role, proof] : last) {
    const bool heal_knows_better =
        fault.last("reverted") != nullptr && fault.last("reverted")->by == "heal";
    if (fault.lasting || proof->says != "no" || heal_knows_better) continue;
    fault.by_hand.push_back(fmt::format("{}: {} ({}) was undone, but {} does not see it undone",
                                        proof->node, fault.instance, fault.injector, role));
  }
  fault.unhealed = !fault.by_hand.empty();
}

}  // namespace

const FaultState* FaultRecord::first(const std::string& state, const std::string& role) const {
  for (const FaultState& s : states) {
    if (s.state == state && (role.empty() || s.role == role)) return &s;
  }
  return nullptr;
}

const FaultState* FaultRecord::last(const std::string& state) const {
  const FaultState* found = nullptr;
  for (const FaultState& s : states) {
    if (s.state == state) found = &s;
  }
  return found;
}

void settle(FaultRecord& fault, const FaultRules& rules) {
  find_times(fault);
  confirm(fault, rules);
  find_left(fault, rules);
}

}  // namespace unplug::check
