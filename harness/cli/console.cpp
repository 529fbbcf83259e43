#include "cli/console.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>

namespace unplug::cli {

bool stdout_is_terminal() { return isatty(STDOUT_FILENO) == 1; }

std::string printable(const std::string& text) {
  std::string shown;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) {
      shown += fmt::format("\\x{:02x}", byte);
    } else {
      shown += c;
    }
  }
  return shown;
}

namespace {

// A reader that has gone, or a full disk under a log, must not cost a run its healing.
void show(const std::string& text) {
  (void)std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

}  // namespace

Console::Console() : terminal_(stdout_is_terminal()) {}

Console::~Console() { clear_live_line(); }

void Console::clear_live_line() {
  if (!live_) return;
  show("\r\033[K");
  live_ = false;
}

void Console::fact(const std::string& topic, const std::string& text) {
  clear_live_line();
  const std::chrono::duration<double> at = BootClock::now() - begun_;
  show(fmt::format("{:7.2f} s  {:<10} {}\n", at.count(), printable(topic), printable(text)));
}

void Console::now(const std::string& text) {
  if (!terminal_) return;
  clear_live_line();
  const std::chrono::duration<double> at = BootClock::now() - begun_;
  show(fmt::format("\033[2m{:7.2f} s  ... {}\033[0m", at.count(), printable(text)));
  live_ = true;
}

}  // namespace unplug::cli
