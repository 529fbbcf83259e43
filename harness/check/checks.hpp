// The checks: pure functions from a history to an answer with its witnesses.
#pragma once

#include <string>
#include <vector>

#include "check/finding.hpp"
#include "check/history.hpp"
#include "scenario/scenario.hpp"
#include "scenario/target.hpp"

namespace unplug::check {

struct Question {
  const History& run;
  const History* baseline;  // null when there is none
  const scenario::Expectation& expectation;
  const scenario::Target& target;
  std::vector<const FaultRecord*> faults;        // that a response answers
  const scenario::Scenario* scenario = nullptr;  // for the target's parameters as they were set
  std::size_t index = 0;                         // of the expectation in the scenario
};

struct Answer {
  Says says = Says::kCannotTell;
  std::string text;
  std::vector<Witness> witnesses;
};

// An invariant is judged in any case; a response only when its faults were confirmed.
enum class Kind { kInvariant, kResponse };
struct Check {
  std::string name;
  Kind kind;
  Answer (*ask)(const Question&);
};
const Check* find_check(const std::string& name);

Answer conservation(const Question& q);
Answer timeout(const Question& q);
Answer cleanup(const Question& q);
Answer output(const Question& q);
Answer cancellation(const Question& q);
Answer restart_point(const Question& q);
Answer exclusive_claim(const Question& q);
Answer refuses(const Question& q);
Answer honest_exit(const Question& q);
Answer progress(const Question& q);
Answer command(const Question& q);

// restart_point of the two kinds of target.
Answer restart_of_farm(const Question& q);
Answer restart_of_shards(const Question& q);

// One fault's answer to one outcome of `timeout`.
Answer reassigned(const Question& q, const FaultRecord& fault);
Answer rides_through(const Question& q, const FaultRecord& fault);
Answer fails_clean(const Question& q, const FaultRecord& fault);
Answer unaffected(const Question& q, const FaultRecord& fault);

// The worst of several: fail, cannot tell, pass; texts and witnesses of the worst kind.
Answer worst_of(const std::vector<Answer>& answers);

Answer cannot_tell(const std::string& why);

// "a, b, c and 4 more"
std::string some_of(const std::vector<std::string>& names, std::size_t most = 3);

}  // namespace unplug::check
