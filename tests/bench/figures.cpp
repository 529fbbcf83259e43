#include "bench/figures.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <exception>
#include <fstream>
#include <string>

namespace unplug::bench {
namespace {

double ms(const timeval& time) { return time.tv_sec * 1e3 + time.tv_usec / 1e3; }

double rounded(double value) { return std::round(value * 1e4) / 1e4; }

}  // namespace

double wall_ms() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double, std::milli>(now).count();
}

double cpu_ms() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  return ms(used.ru_utime) + ms(used.ru_stime);
}

Json memory() {
  std::ifstream status("/proc/self/status");
  Json found;
  for (std::string word; status >> word;) {
    double kb = 0;
    if (word == "VmRSS:" && status >> kb) found["rss_mb"] = rounded(kb / 1024);
    if (word == "VmHWM:" && status >> kb) found["peak_mb"] = rounded(kb / 1024);
  }
  return found;
}

Json percentiles(std::vector<double> values) {
  std::ranges::sort(values);
  const auto at = [&values](double part) {
    const auto index = static_cast<std::size_t>(part * static_cast<double>(values.size()));
    return rounded(values[std::min(index, values.size() - 1)]);
  };
  return {{"p50", at(0.5)},
          {"p99", at(0.99)},
          {"least", at(0)},
          {"most", at(1)},
          {"count", values.size()}};
}

void run_all(asio::io_context& loop, std::vector<asio::awaitable<void>> tasks) {
  std::size_t left = tasks.size();
  std::exception_ptr failed;
  for (auto& task : tasks) {
    asio::co_spawn(loop, std::move(task), [&](std::exception_ptr error) {
      --left;
      if (error && !failed) failed = error;
    });
  }
  loop.restart();
  while (left > 0 && !failed) loop.run_one();
  if (failed) std::rethrow_exception(failed);
}

}  // namespace unplug::bench
