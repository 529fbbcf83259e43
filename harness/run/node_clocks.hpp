// Reads every node's continuous clock against ours.
#pragma once

#include "run/context.hpp"

namespace unplug::run {

// Some round trips of each node, journaled, and the narrowest of them kept in the context: about
// half a millisecond wide on an idle node in the same room. At the start and at the end of a run.
asio::awaitable<void> read_clocks(Stage& stage);

}  // namespace unplug::run
