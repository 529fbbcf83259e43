// The same task for many nodes at once; what they complain about, in order.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "run/remote.hpp"

namespace unplug::run {

// The task must be a named callable of the caller: GCC 12 destroys a lambda with captures inside
// a co_await expression twice.
template <class Task>
asio::awaitable<std::vector<std::string>> on_each(Context& context,
                                                  const std::vector<std::string>& names,
                                                  const Task& task) {
  std::vector<std::string> problems;
  std::vector<asio::awaitable<void>> tasks;
  for (const std::string& name : names) tasks.push_back(task(name, problems));
  co_await all(context.executor, std::move(tasks));
  std::ranges::sort(problems);
  co_return problems;
}

}  // namespace unplug::run
