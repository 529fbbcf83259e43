// Where a part of a target runs. A place is named in target.json ("worker"); one of them is a
// Seat: "worker 2" in files and messages, "worker-2" on nodes and in journals.
#pragma once

#include <compare>
#include <string>

namespace unplug::scenario {

struct Seat {
  std::string place;  // as target.json names it
  int number = 1;     // from 1

  auto operator<=>(const Seat&) const = default;
  std::string id() const { return place + "-" + std::to_string(number); }
  std::string text() const { return place + " " + std::to_string(number); }
};

}  // namespace unplug::scenario
