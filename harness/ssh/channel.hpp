// One command in one SSH channel: a state machine that the Session steps (session.hpp).
//
//   opening -> starting -> talking -> closing -> gone
//
// A step makes libssh2 calls until nothing moves. When a call leaves a packet half sent, the
// step says kHalfSent, and the very same call is made first at the next step: libssh2 1.10
// refuses any other call until then (-39), and the session is lost.
#pragma once

#include <libssh2.h>

#include <memory>
#include <string>

#include "process/frame.hpp"
#include "process/process.hpp"
#include "ssh/link.hpp"

namespace unplug::ssh {

class Channel {
 public:
  enum class Step {
    kIdle,      // until the socket is ready, or the reader does something
    kMore,      // could go on at once
    kHalfSent,  // owns the session's outbound packet
    kGone,
    kBroken,  // the whole session is
  };

  Channel(std::shared_ptr<Process> process, std::string_view line, std::string nonce);

  Step step(Link& link);

  // libssh2 keeps a half-open channel in the session, so one opens at a time.
  bool opening() const { return state_ == State::kOpening; }
  bool wanted() const { return !process_->abandoned; }
  // The session is gone; so is the libssh2 side of this.
  void lose(const std::string& why);
  // Killed, but something still holds its output: step again then, whatever the socket does.
  const std::optional<Deadline>& again_at() const { return grace_ends_; }

 private:
  enum class State { kOpening, kStarting, kTalking, kClosing };
  enum class Call { kNone, kReadOut, kReadErr, kWrite, kEndInput };

  Step open(Link& link);
  Step start(Link& link);
  Step talk(Link& link);
  Step close(Link& link);
  Step refuse(Ending::How how, std::string why);

  long make(Call call, Link& link);
  long read(int stream);
  long write();
  long end_input(Link& link);
  void look_for_the_end();
  void look_for_a_signal();
  Ending without_mark() const;

  std::shared_ptr<Process> process_;
  std::string command_;
  Frame out_, err_;
  LIBSSH2_CHANNEL* channel_ = nullptr;
  State state_ = State::kOpening;
  Call half_sent_ = Call::kNone;
  std::string sending_;  // stays where it is while libssh2 has it half sent
  std::size_t sent_ = 0;
  bool start_made_ = false, input_ended_ = false;
  std::string signal_;
  std::optional<Deadline> grace_ends_;
};

}  // namespace unplug::ssh
