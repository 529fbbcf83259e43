// Gathers what a journal says of each fault, and settles it when all has been read.
#pragma once

#include <string>
#include <vector>

#include "check/faults.hpp"
#include "check/judge.hpp"

namespace unplug::check {

struct History;

class FaultRecords {
 public:
  void add_fault(const journal::Event& event, Span when);  // of kind `fault`
  void add_proof(const journal::Event& event, Span when);  // of kind `proof`
  // In the order in which they were planned; `history` knows seats and phases by now.
  std::vector<FaultRecord> settled(const History& history, const Case& c);

 private:
  FaultRecord& record(const std::string& instance);

  std::vector<FaultRecord> all_;
};

}  // namespace unplug::check
