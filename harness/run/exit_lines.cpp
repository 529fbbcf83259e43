#include "run/exit_lines.hpp"

#include <charconv>
#include <map>

namespace unplug::run {
namespace {

// The same numbers on Linux and darwin; others are told by number.
const std::map<int, std::string> kSignals = {{1, "HUP"},   {2, "INT"},   {3, "QUIT"}, {4, "ILL"},
                                             {6, "ABRT"},  {8, "FPE"},   {9, "KILL"}, {11, "SEGV"},
                                             {13, "PIPE"}, {14, "ALRM"}, {15, "TERM"}};

template <class T>
std::optional<T> number(const std::string& text) {
  T value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return value;
}

}  // namespace

journal::Json exit_of_code(int code) {
  const int signal = code < 0 ? -code : code > 128 ? code - 128 : 0;
  if (signal == 0) return {{"code", code}};
  const auto name = kSignals.find(signal);
  return {{"signal", name == kSignals.end() ? std::to_string(signal) : name->second}};
}

ExitLines::ExitLines(const scenario::Target& target) {
  for (const scenario::Part& part : target.parts) {
    if (part.exits) lines_.push_back({part.name, *part.exits, Ere(part.exits->match)});
  }
}

std::vector<SeenExit> ExitLines::read(const std::string& log, const std::string& text) const {
  std::vector<SeenExit> seen;
  for (const Line& line : lines_) {
    if (line.line.log != log) continue;
    const auto groups = line.pattern.match(text);
    if (!groups) continue;
    const auto field = [&](const char* name) {
      return groups->at(static_cast<std::size_t>(line.line.fields.at(name)));
    };
    const auto pid = number<std::int64_t>(field("pid"));
    const auto code = number<int>(field("code"));
    if (pid && code) seen.push_back({line.part, *pid, exit_of_code(*code)});
  }
  return seen;
}

}  // namespace unplug::run
