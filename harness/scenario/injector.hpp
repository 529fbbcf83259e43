// The code that breaks one kind of thing, described by its injector.json.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/units.hpp"
#include "scenario/lab.hpp"
#include "scenario/target.hpp"

namespace unplug::scenario {

// What an injector does at one node.
struct Role {
  std::string name;
  // Where: the name of a process or node parameter ("process"), an end of a link parameter
  // ("link.near", "link.far"), or "controller".
  std::string at;
  bool acts = false;  // only acting roles arm, fire and revert
};

enum class Undo { kGuard, kSelf, kOperator, kNone };
enum class Cuts { kNone, kLink, kControl, kNode };

struct PlatformNeeds {
  bool root = false;
  std::vector<std::string> tools;  // "needs"
  Duration undo_settle = std::chrono::seconds{5};
  std::map<std::string, std::string> proof;  // role -> sentence, where it differs on this platform
  std::string says;                          // what a report must call it here
  std::string hardware;                      // "not verified on hardware"
};

struct Injector {
  std::string name;
  std::string about;
  std::vector<Param> params;
  std::vector<Role> roles;
  bool lasting = false;
  Undo undo = Undo::kGuard;
  Cuts cuts = Cuts::kNone;
  bool survives_reboot = false;
  Duration verify_every = std::chrono::seconds{1};
  std::vector<std::string> captures;
  std::map<std::string, std::string> proof;  // role -> sentence
  std::map<Platform, PlatformNeeds> platforms;

  const Param* param(const std::string& name) const;
};

}  // namespace unplug::scenario
