// What became of a command on a node: always a value, never an exception.
#pragma once

#include <string>

#include "base/boot_clock.hpp"

namespace unplug::node {

struct Outcome {
  enum class End {
    kExited,     // our end mark came, with the command's own status
    kSignalled,  // it was killed by a signal
    kLost,       // the session went, or the end mark never came: nobody knows
    kTimedOut,   // the deadline passed first; the command may still be running
    kRefused,    // the node would not start it (no session, no channel, no login)
  };
  End end = End::kLost;
  int status = -1;     // when kExited
  std::string signal;  // when kSignalled, without "SIG"
  std::string out, err;
  bool truncated = false;  // more output came than the command's limit
  std::string why;         // when lost, timed out or refused: a sentence for people
  BootClock::time_point begun{}, ended{};

  bool ok() const { return end == End::kExited && status == 0; }
  // "exited 3", "killed by KILL", "timed out", "lost: ...", "refused: ..."
  std::string text() const;
};

}  // namespace unplug::node
