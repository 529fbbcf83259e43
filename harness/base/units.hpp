// Durations and sizes as files write them ("300ms", "2m", "64MiB") and as people read them.
//
// A unit is always required: "5" is an error, so that nobody has to guess.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace unplug {

using Duration = std::chrono::nanoseconds;
using Bytes = std::uint64_t;

// ns, us, ms, s, m, h, d; a decimal fraction is allowed ("1.5s"). Nothing else: no sign, no
// blanks, no compound ("1m30s"). nullopt when it is not a duration or does not fit.
std::optional<Duration> parse_duration(std::string_view text);

// B, KiB, MiB, GiB, TiB, and KB, MB, GB, TB as powers of ten; whole numbers only.
std::optional<Bytes> parse_bytes(std::string_view text);

// The shortest exact form that parse_duration reads back: "1.5s", "300ms", "2m".
std::string to_text(Duration d);

// For people: three significant digits, "12.3 s", "450 ms", "2 min 5 s".
std::string for_people(Duration d);

// Seconds as a plain decimal, for scripts: "4", "0.5".
std::string to_seconds(Duration d);

std::string bytes_text(Bytes n);

}  // namespace unplug
