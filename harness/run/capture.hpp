// What is collected from the nodes: outputs and their hashes, files and mounts, logs.
//
// Nothing here decides anything; what cannot be had becomes a note, and the checks that miss it
// cannot tell.
#pragma once

#include <map>
#include <string>

#include "run/observation.hpp"

namespace unplug::run {

// Files of the target's folders on each node; system: ports and mounts. `when`: before or after.
asio::awaitable<void> snapshot_files(Stage& stage, std::string when);
asio::awaitable<void> snapshot_system(Stage& stage, std::string when);

// The items' folder, read until two reads agree: [[path, size], ...], or null.
asio::awaitable<journal::Json> list_items(Stage& stage, const Observation& observation);

// `file` events of role output: every output of every item at rest.
asio::awaitable<void> capture_outputs(Stage& stage, const Observation& observation);

// The commands of `command` expectations, one after the other.
asio::awaitable<void> run_commands(Stage& stage);

// The target's logs and the guards' logs into the run's folder.
asio::awaitable<void> collect_logs(Stage& stage);

}  // namespace unplug::run
