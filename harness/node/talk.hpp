// A process read to its end, or line by line: what exec and open are made of, on any transport.
#pragma once

#include <memory>

#include "node/node.hpp"
#include "process/process.hpp"

namespace unplug::node {

Outcome to_outcome(const Ending& ending);
Outcome refused(std::string why);

// Feeds the input, drains both outputs, waits for the end. Abandons the process at the deadline
// and when the coroutine is dropped.
asio::awaitable<Outcome> run_to_end(std::shared_ptr<Process> process, Command command,
                                    Deadline deadline);

// Waits until the command itself runs, then hands it over as a stream.
asio::awaitable<Opened> open_stream(std::shared_ptr<Process> process, Deadline deadline);

}  // namespace unplug::node
