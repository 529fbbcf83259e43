#include "base/units.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <utility>

namespace unplug {
namespace {

struct Unit {
  std::string_view name;
  double scale;
};

constexpr std::array kTimes = {Unit{"ns", 1},     Unit{"us", 1e3}, Unit{"ms", 1e6},
                               Unit{"s", 1e9},    Unit{"m", 60e9}, Unit{"h", 3.6e12},
                               Unit{"d", 86.4e12}};

constexpr std::array kSizes = {Unit{"B", 1},
                               Unit{"KiB", 1024.0},
                               Unit{"MiB", 1048576.0},
                               Unit{"GiB", 1073741824.0},
                               Unit{"TiB", 1099511627776.0},
                               Unit{"KB", 1e3},
                               Unit{"MB", 1e6},
                               Unit{"GB", 1e9},
                               Unit{"TB", 1e12}};

// Splits "1.5s" into 1.5 and "s"; the number has digits on both sides of its point.
std::optional<std::pair<double, std::string_view>> number_and_unit(std::string_view text) {
  std::size_t i = 0;
  double value = 0;
  while (i < text.size() && text[i] >= '0' && text[i] <= '9')
    value = value * 10 + (text[i++] - '0');
  if (i == 0) return std::nullopt;
  if (i < text.size() && text[i] == '.') {
    const std::size_t point = i++;
    double place = 0.1;
    for (; i < text.size() && text[i] >= '0' && text[i] <= '9'; place /= 10) {
      value += place * (text[i++] - '0');
    }
    if (i == point + 1) return std::nullopt;
  }
  return std::pair{value, text.substr(i)};
}

template <std::size_t N>
std::optional<double> scaled(std::string_view text, const std::array<Unit, N>& units) {
  const auto parts = number_and_unit(text);
  if (!parts) return std::nullopt;
  for (const Unit& unit : units) {
    if (unit.name == parts->second) return parts->first * unit.scale;
  }
  return std::nullopt;
}

std::string trimmed(double value) {
  std::string text = fmt::format("{:.9f}", value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

}  // namespace

std::optional<Duration> parse_duration(std::string_view text) {
  const auto ns = scaled(text, kTimes);
  if (!ns || *ns > 9e18) return std::nullopt;
  return Duration{std::llround(*ns)};
}

std::optional<Bytes> parse_bytes(std::string_view text) {
  if (text.find('.') != std::string_view::npos) return std::nullopt;
  const auto bytes = scaled(text, kSizes);
  if (!bytes || *bytes > 9e18) return std::nullopt;
  return static_cast<Bytes>(*bytes);
}

std::string to_text(Duration d) {
  const auto ns = d.count();
  if (ns != 0 && ns % 3'600'000'000'000 == 0) return fmt::format("{}h", ns / 3'600'000'000'000);
  if (ns != 0 && ns % 60'000'000'000 == 0) return fmt::format("{}m", ns / 60'000'000'000);
  if (ns == 0 || ns >= 1'000'000'000) return to_seconds(d) + "s";
  if (ns % 1'000'000 == 0) return fmt::format("{}ms", ns / 1'000'000);
  if (ns % 1'000 == 0) return fmt::format("{}us", ns / 1'000);
  return fmt::format("{}ns", ns);
}

std::string for_people(Duration d) {
  const double s = std::chrono::duration<double>(d).count();
  if (s < 0) return "-" + for_people(-d);
  if (s < 1) return fmt::format("{:.3g} ms", s * 1e3);
  if (s < 100) return fmt::format("{:.3g} s", s);
  const auto whole = std::llround(s);
  return fmt::format("{} min {} s", whole / 60, whole % 60);
}

std::string to_seconds(Duration d) { return trimmed(std::chrono::duration<double>(d).count()); }

std::string bytes_text(Bytes n) {
  constexpr std::array kNames = {"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t i = 0;
  while (i + 1 < kNames.size() && n != 0 && n % 1024 == 0) n /= 1024, ++i;
  return fmt::format("{}{}", n, kNames[i]);
}

}  // namespace unplug
