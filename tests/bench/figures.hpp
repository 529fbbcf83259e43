// What a row of the bench is made of: times, CPU and memory of this process, percentiles.
#pragma once

#include <boost/asio.hpp>
#include <nlohmann/json.hpp>
#include <vector>

namespace unplug::bench {

namespace asio = boost::asio;
using Json = nlohmann::ordered_json;

double wall_ms();  // on a steady clock, from any beginning
double cpu_ms();   // user and system, of this process so far

// {"rss_mb": now, "peak_mb": highest so far}
Json memory();

// {"p50": ..., "p99": ..., "least": ..., "most": ..., "count": ...}; of the same unit.
Json percentiles(std::vector<double> values);

// Runs the loop until all tasks are done, all at once. Throws what the first of them throws.
void run_all(asio::io_context& loop, std::vector<asio::awaitable<void>> tasks);

}  // namespace unplug::bench
