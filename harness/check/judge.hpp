// journal -> findings -> verdict. Pure: the same input gives the same result on any machine.
#pragma once

#include <optional>

#include "check/finding.hpp"
#include "journal/reader.hpp"
#include "scenario/load.hpp"

namespace unplug::check {

struct Case {
  journal::Journal journal;
  std::optional<journal::Journal> baseline;
  // Guards' logs that `heal --into` collected, already as events (src "heal").
  std::vector<journal::Event> healed;
  const scenario::Scenario* scenario = nullptr;
  const scenario::Target* target = nullptr;
};

Result judge(const Case& c);

}  // namespace unplug::check
