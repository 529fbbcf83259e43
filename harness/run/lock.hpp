// The lock of one node (injectors/sh/lock.sh): one run, or one heal, at a time.
#pragma once

#include <optional>
#include <string>

#include "base/units.hpp"
#include "node/node.hpp"

namespace unplug::run {

namespace asio = boost::asio;

// Whose it is to be. The lease ends it when nobody renews: as short as a fault lease.
struct LockHolder {
  std::string run;
  Duration lease{};
};

// `verb` is take, renew, release or show.
asio::awaitable<node::Outcome> lock_verb(node::Node& node, std::string verb, LockHolder holder);

// Who holds it, when a verb was refused because another does.
struct LockedBy {
  std::string run, owner, left;  // left: seconds of its lease
};
std::optional<LockedBy> locked_by(const node::Outcome& refused);

}  // namespace unplug::run
