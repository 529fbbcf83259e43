// journal -> findings -> verdict. Pure: the same input gives the same result on any machine.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

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
  // By name; of an injector that is missing here, `verify_every` is taken to be 1 s.
  const std::map<std::string, scenario::Injector>* injectors = nullptr;
};

Result judge(const Case& c);

}  // namespace unplug::check
