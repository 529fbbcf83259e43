// What a node is given: scripts, injectors, the target's folder, what to observe.
#pragma once

#include <string>

#include "run/context.hpp"

namespace unplug::run {

// The shipped node scripts, "injectors/sh" under the shipped root.
std::filesystem::path node_scripts();

// A script of injectors/sh, whole: for sending on stdin. Throws Error(kUsage) when it is missing.
std::string node_script(const std::string& name);

// Everything for one node into ~/.unplug/ID. "" or why not.
asio::awaitable<std::string> upload(Stage& stage, std::string node);

// prelude + injector + call for `sh` on stdin, when there is no folder (plan, preflight).
std::string probe_script(const scenario::Bundle& bundle, const Call& probe);

}  // namespace unplug::run
