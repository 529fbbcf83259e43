// What a check says, with the events that prove it; and what a run says.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.hpp"

namespace unplug::check {

enum class Says { kPass, kFail, kKnown, kFixed, kCannotTell, kSkipped };
std::string to_text(Says says);  // "pass", "fail", "known", "fixed", "cannot_tell", "skipped"

// An event that proves something. `journal` is "" for the run's own, else "baseline".
struct Witness {
  std::uint64_t seq = 0;
  std::string journal;
  std::string text;  // one line for people: "shot-2 in queue and in done"
};

struct Finding {
  std::size_t expectation = 0;  // index in the scenario's `expect`
  std::string check;            // and its name, when the scenario gives one
  std::string name;
  std::vector<std::string> of;  // faults a response answers
  Says says = Says::kCannotTell;
  std::string text;       // one sentence: what was found
  std::string otherwise;  // for cannot_tell: what it would have said
  std::vector<Witness> witnesses;
};

enum class Verdict { kPass, kFail, kInconclusive, kUnhealed, kInternal, kInterrupted };
std::string to_text(Verdict verdict);
Exit exit_of(Verdict verdict);

// Was a fault really in effect? By instance.
struct FaultFinding {
  std::string id, instance, injector, victim;
  bool confirmed = false;
  bool unhealed = false;
  std::string text;    // "in effect from 2.1 s to 5.3 s", "no effect: ..."
  std::string fired;   // "4.2 s after start", "" when it never fired
  std::string undone;  // "reverted 12 s after start", "nothing to undo", "still there"
  std::vector<Witness> witnesses;
};

// Faults that were fired together.
struct SkewFinding {
  std::vector<std::string> ids;
  std::size_t instances = 0;
  std::int64_t surely_ns = 0, at_most_ns = 0;  // the first from the last
  std::string text;                            // "4 fired at most 30 ms apart"
};

struct Result {
  Verdict verdict = Verdict::kInconclusive;
  std::string why;  // one sentence
  std::vector<FaultFinding> faults;
  std::vector<SkewFinding> skews;
  std::vector<Finding> findings;
  std::vector<std::string> by_hand;  // what a person must still undo
};

}  // namespace unplug::check
