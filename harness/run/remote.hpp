// Script calls on nodes, as the plan words them, with their action events.
#pragma once

#include <functional>
#include <vector>

#include "run/context.hpp"

namespace unplug::run {

// A node that does not answer in this time cannot be reached.
constexpr std::chrono::seconds kConnect{15};

// The runs that have a folder on a node, one a line.
constexpr const char* kListRuns =
    "for d in ~/.unplug/*/sh; do [ -d \"$d\" ] && basename \"${d%/sh}\"; done; :";

// The call's line in the stage's folder on its node.
std::string in_folder(const Stage& stage, const std::string& line);

// What the work says; when the run is stopped first, lost, and its end is not waited for. For
// looks that change nothing: what it began ends with its deadline or with its node.
asio::awaitable<node::Outcome> unless_stopped(Context& context,
                                              std::function<asio::awaitable<node::Outcome>()> work);

// One injector call; nothing is journaled.
asio::awaitable<node::Outcome> call(Stage& stage, Call what, Deadline deadline);

// One call with its `action` events; a user's own line runs in the home folder.
asio::awaitable<node::Outcome> act(Stage& stage, Call what);

// A target verb on all its seats, in the order of places; `action` events around each. Stops at
// the first group in which one failed, unless it takes things back (stop, remove). Empty = all
// well; else what failed, for people.
asio::awaitable<std::string> target_verb(Stage& stage, std::string verb,
                                         std::vector<std::string> args = {});

// `ready` asked again and again until every seat says yes or its `within` has passed.
asio::awaitable<std::string> wait_ready(Stage& stage);

// Runs the tasks at the same time and waits for all of them.
asio::awaitable<void> all(asio::any_io_executor executor, std::vector<asio::awaitable<void>> tasks);

// The last JSON object on stdout, or null.
journal::Json last_json(const std::string& text);

// The last line of stderr, else how it ended: what to tell people about a failed call.
std::string reason(const node::Outcome& outcome);

}  // namespace unplug::run
