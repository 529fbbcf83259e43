#include "process/script.hpp"

#include <fmt/format.h>

#include <random>

#include "base/shell.hpp"

namespace unplug {
namespace {

// Printed with printf's own octal escape: no shell on the way sees a control character. stderr
// comes first: who has seen the mark on stdout may close both, and a wrapper that writes to a
// closed stream is killed.
std::string marks(const std::string& nonce, std::string_view what_out, std::string_view what_err) {
  return fmt::format(R"sh(printf "\036{} {}\n">&2;printf "\036{} {}\n";)sh", nonce, what_err, nonce,
                     what_out);
}

// Runs its first argument. No single quotes in it.
std::string wrapper(const std::string& nonce) {
  return fmt::format(R"sh({}(eval "$(printf %b "$1")");s=$?;{})sh", marks(nonce, "begin", "begin"),
                     marks(nonce, "$s", "end"));
}

}  // namespace

std::string make_nonce() {
  static std::random_device random;  // making one asks the CPU what it can, dear in a guest
  return fmt::format("{:08x}{:08x}", random(), random());
}

std::string printf_b(std::string_view text) {
  constexpr std::string_view kSpecial = "'\\!";
  std::string safe;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte > 0x7e || kSpecial.find(c) != std::string_view::npos) {
      safe += fmt::format("\\0{:03o}", byte);
    } else {
      safe += c;
    }
  }
  return safe;
}

std::string framed_command(std::string_view line, const std::string& nonce) {
  return fmt::format("exec sh -c '{}' unplug '{}'", wrapper(nonce), printf_b(line));
}

// The outer shell would say on stderr that the wrapper was killed: its own goes nowhere.
std::string framed_command_with_signal(std::string_view line, const std::string& nonce) {
  return fmt::format(
      R"sh(exec sh -c 'exec 3>&2 2>/dev/null;sh -c "$1" unplug "$2" 2>&3 3>&-;s=$?;n=;)sh"
      R"sh([ $s -gt 128 ]&&n=$(kill -l $s);exec 2>&3;{}' unplug '{}' '{}')sh",
      marks(nonce, "k$n", "k$n"), wrapper(nonce), printf_b(line));
}

std::string too_long(std::size_t bytes) {
  return fmt::format(
      "the command line has {} bytes, more than {} as it is sent; give it to sh as input", bytes,
      kLongestCommand);
}

// This shell is known, so the line goes as it is, quoted: a $(printf) would be one more fork, half
// of what a builtin takes here.
std::string framed_line(std::string_view line, const std::string& nonce) {
  return fmt::format(R"sh({}(eval {})</dev/null;s=$?;{})sh", marks(nonce, "begin", "begin"),
                     shell_quoted(line), marks(nonce, "$s", "end"));
}

}  // namespace unplug
