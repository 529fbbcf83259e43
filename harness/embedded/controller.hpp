// The lab's first process: builds the lab, runs the command as its controller, reaps.
//
// It is pid 1 of the outer pid namespace. When it ends, for whatever reason, the kernel ends
// every process of the lab, and with the last of them go the namespaces, mounts and interfaces.
#pragma once

#include <string>
#include <vector>

#include "embedded/node.hpp"
#include "embedded/process.hpp"

namespace unplug::embedded {

// In the cloned child. `outside` brings one byte when the user map is written, and takes the
// reason when the lab cannot be built. Returns the command's status.
int run_controller(Plans plans, const std::vector<std::string>& command, Fd outside);

}  // namespace unplug::embedded
