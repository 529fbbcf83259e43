// The lock on every node of a run, or on none (lock.hpp: the lock of one node).
#pragma once

#include <string>
#include <vector>

#include "run/context.hpp"

namespace unplug::run {

// Problems, empty when all were taken. `wait`: how long to queue for them.
asio::awaitable<std::vector<std::string>> take_locks(Context& context, Duration wait);

// Until `done`; a lock that is another's by then is a failure of the run.
asio::awaitable<void> renew_locks(Context& context, const bool& done);

asio::awaitable<void> release_locks(Context& context);

}  // namespace unplug::run
