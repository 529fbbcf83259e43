// A command line in its frame: text that any login shell passes on, and marks around its output.
//
// stdout and stderr each carry a begin mark and an end mark with a nonce:
//
//   noise of start files  RS NONCE " begin" LF  what the command prints  RS NONCE " " STATUS LF
//
// The status is believed only from the mark: libssh2 reports 0 when no status came at all. With
// marks on both streams the end does not depend on EOF, which a child left in the background
// with our stdout would hold back for ever.
#pragma once

#include <string>
#include <string_view>

namespace unplug {

// 16 random hex digits.
std::string make_nonce();

// The text with everything that is not printable ASCII, and ' \ !, as \0ooo: safe between
// single quotes in sh, bash, zsh, fish (\ and ' are special there) and csh (! is); `printf %b`
// turns it back.
std::string printf_b(std::string_view text);

// What is given to the login shell: runs `line` in a subshell of a fresh POSIX sh, framed. Its
// shell's pid ($$) is the wrapper's, so a command that kills itself is seen as killed.
std::string framed_command(std::string_view line, const std::string& nonce);

// The same for a transport that passes no signals on: another shell waits for the wrapper, and when
// that was killed the word of the end mark is "k" and the signal's name ("kKILL").
std::string framed_command_with_signal(std::string_view line, const std::string& nonce);

// The kernel's limit for one argument is 128 KiB on Linux; sshd passes a framed command as one.
constexpr std::size_t kLongestCommand = 120'000;
std::string too_long(std::size_t bytes);  // the sentence for people

// What is given, with its line feed, to a POSIX sh that reads commands: the same in that shell,
// without stdin.
std::string framed_line(std::string_view line, const std::string& nonce);

}  // namespace unplug
