#include "run/node_locks.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "run/lock.hpp"
#include "run/on_each.hpp"

namespace unplug::run {
namespace {

using node::Outcome;
using Problems = std::vector<std::string>;

asio::awaitable<Outcome> verb_of_lock(Context& context, std::string name, std::string verb) {
  LockHolder holder{context.run, context.bundle.lab.limits.fault_lease};
  co_return co_await lock_verb(context.node(name), verb, holder);
}

asio::awaitable<void> take_lock(Context& context, std::string name, Problems& problems) {
  const Outcome outcome = co_await verb_of_lock(context, name, "take");
  if (outcome.ok()) co_return;
  if (const auto by = locked_by(outcome)) {
    problems.push_back(fmt::format("{}: in use by run {} of {}, {} s left; wait, or use --wait 60s",
                                   name, by->run, by->owner, by->left));
  } else {
    problems.push_back(fmt::format("{}: its lock cannot be taken: {}", name, reason(outcome)));
  }
}

asio::awaitable<void> release_lock(Context& context, std::string name) {
  (void)co_await verb_of_lock(context, name, "release");
}

// After a renewal that failed: is the lock ours no more, or could it only not be written?
asio::awaitable<bool> is_lost(Context& context, std::string name) {
  const Outcome held = co_await verb_of_lock(context, name, "show");
  const bool known = held.end == Outcome::End::kExited;
  const auto by = locked_by(held);
  co_return known && (!by || by->run != context.run);
}

// Each node by itself: one that does not answer must not cost us the others' locks.
asio::awaitable<void> renew_lock(Context& context, std::string name, const bool& done) {
  const auto is_done = [&done] { return done; };
  for (;;) {
    const bool over =
        co_await until(context.bell, is_done, within(context.bundle.lab.limits.fault_lease / 3));
    if (over) co_return;
    const Outcome renewed = co_await verb_of_lock(context, name, "renew");
    bool lost = renewed.end == Outcome::End::kExited && !renewed.ok();
    if (lost) lost = co_await is_lost(context, name);
    // This machine slept past the lease, or somebody forced a heal: the node is another's now.
    if (lost) context.fail(name + ": its lock is not ours any more");
  }
}

}  // namespace

asio::awaitable<Problems> take_locks(Context& context, Duration wait) {
  const auto task = [&context](const std::string& name, Problems& problems) {
    return take_lock(context, name, problems);
  };
  const Deadline give_up = within(wait);
  for (;;) {
    Problems problems = co_await on_each(context, context.plan.nodes, task);
    if (problems.empty()) co_return problems;
    co_await release_locks(context);
    if (BootClock::now() >= give_up || context.stop != Stop::kNo) co_return problems;
    context.progress.now("waiting for the lock: " + problems.front());
    co_await context.bell.wait(std::min(give_up, within(std::chrono::seconds{1})));
  }
}

asio::awaitable<void> renew_locks(Context& context, const bool& done) {
  std::vector<asio::awaitable<void>> tasks;
  for (const std::string& name : context.plan.nodes) {
    tasks.push_back(renew_lock(context, name, done));
  }
  co_await all(context.executor, std::move(tasks));
}

asio::awaitable<void> release_locks(Context& context) {
  std::vector<asio::awaitable<void>> tasks;
  for (const std::string& name : context.plan.nodes) tasks.push_back(release_lock(context, name));
  co_await all(context.executor, std::move(tasks));
}

}  // namespace unplug::run
