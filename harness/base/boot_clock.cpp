#include "base/boot_clock.hpp"

#include <fmt/format.h>
#include <time.h>

namespace unplug {
namespace {

#ifdef __APPLE__
constexpr clockid_t kContinuous = CLOCK_MONOTONIC;
#else
constexpr clockid_t kContinuous = CLOCK_BOOTTIME;
#endif

tm utc(time_t seconds) {
  tm parts{};
  gmtime_r(&seconds, &parts);
  return parts;
}

}  // namespace

BootClock::time_point BootClock::now() noexcept {
  timespec t{};
  clock_gettime(kContinuous, &t);
  return time_point{std::chrono::seconds{t.tv_sec} + std::chrono::nanoseconds{t.tv_nsec}};
}

std::string wall_now() {
  timespec t{};
  clock_gettime(CLOCK_REALTIME, &t);
  const tm p = utc(t.tv_sec);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", p.tm_year + 1900, p.tm_mon + 1,
                     p.tm_mday, p.tm_hour, p.tm_min, p.tm_sec, t.tv_nsec / 1'000'000);
}

std::string wall_stamp() {
  const tm p = utc(time(nullptr));
  return fmt::format("{:04}{:02}{:02}-{:02}{:02}{:02}", p.tm_year + 1900, p.tm_mon + 1, p.tm_mday,
                     p.tm_hour, p.tm_min, p.tm_sec);
}

}  // namespace unplug
