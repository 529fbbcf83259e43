#include "run/lock.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <sstream>

#include "base/shell.hpp"
#include "run/upload.hpp"

namespace unplug::run {
namespace {

constexpr std::chrono::seconds kLockScript{20};

std::string owner_of_lock() {
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  return fmt::format("{}:{}", host, getpid());
}

std::string lock_words(const std::string& verb, const LockHolder& holder) {
  if (verb == "show") return verb;
  std::string line = verb + " " + shell_quoted(holder.run);
  if (verb == "release") return line;
  const auto lease =
      std::max<std::int64_t>(1, std::chrono::ceil<std::chrono::seconds>(holder.lease).count());
  return line + fmt::format(" {} {}", shell_quoted(owner_of_lock()), lease);
}

}  // namespace

asio::awaitable<node::Outcome> lock_verb(node::Node& node, std::string verb, LockHolder holder) {
  const std::string script = node_script("lock.sh");
  const std::string words = lock_words(verb, holder);
  // As often as every second on each node: in the resident shell it costs one process, not seven.
  // The others may wait for somebody, which nobody may do there.
  if (verb == "renew") {
    const std::string line = "cd && set -- " + words + "\n" + script;
    co_return co_await node.ask(line, within(kLockScript));
  }
  co_return co_await node.exec(node::Command("sh -s -- " + words, script), within(kLockScript));
}

std::optional<LockedBy> locked_by(const node::Outcome& refused) {
  LockedBy by;
  std::istringstream text(refused.out);
  if (!(text >> by.run >> by.owner >> by.left)) return std::nullopt;
  return by;
}

}  // namespace unplug::run
