// "Within T" and what the outcomes of `timeout` share.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "check/checks.hpp"

namespace unplug::check {

// From where "within" counts: fire at the victim, or the verified revert.
std::optional<Span> origin(const Question& q, const FaultRecord& fault);

// Longest when the expectation has none.
Duration limit(const Question& q);

// Pass, fail or cannot tell by the interval; `what` is "shot-2 finished by worker-1".
Answer in_time(const Question& q, Span took, const std::string& what,
               std::vector<Witness> witnesses);

// Until when the job was left alone: our own recover, capture or stop ends it; else the end of
// the journal.
Span undisturbed_until(const History& run);

// From when on processes end because of us: recover or stop; else the end of the journal.
Span ended_by_us(const History& run);

// Processes of the job's own parts: recorded by rank.sh, not children found by their command.
bool main_part(const Question& q, const Process& process);

// An end that is no harm: code 0, or a part that ends in the undisturbed run as well.
enum class Exited { kFine, kHarm, kUnknown };
Exited judge_exit(const Question& q, const Process& process);

// Harmful exits of main processes after the fire, the death of a lasting fault's own victim left
// aside: fail or cannot tell; nothing when there is none.
std::optional<Answer> exits_after(const Question& q, const FaultRecord& fault);

// Did the victim's seat make progress in time, before we helped it? Any seat, where it counts none.
Answer progressed(const Question& q, const FaultRecord& fault, Span from);

// Items that are gone or failed at the end; nothing when there is none, or the target has none.
std::optional<Answer> items_lost(const Question& q);

// Was the process killed by this fault?
bool is_victim(const FaultRecord& fault, const Process& process);

}  // namespace unplug::check
