#include "base/log.hpp"

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <cstdlib>
#include <string_view>

namespace unplug {
namespace {

spdlog::logger& logger() {
  static const auto kLogger = [] {
    auto made = spdlog::stderr_color_mt("unplug");
    const char* wanted = std::getenv("UNPLUG_LOG");
    const std::string_view level = wanted ? wanted : "off";
    made->set_level(level == "debug"  ? spdlog::level::debug
                    : level == "info" ? spdlog::level::info
                                      : spdlog::level::off);
    return made;
  }();
  return *kLogger;
}

}  // namespace

void log_debug(const std::string& text) { logger().debug(text); }
void log_info(const std::string& text) { logger().info(text); }

}  // namespace unplug
