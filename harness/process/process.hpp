// A started command, as its transport (ssh, local) and its reader see it.
//
//      reader --send, end_input--> input --> transport --> the command's stdin
//      reader <------- out, err <----------- transport <-- its stdout and stderr
//      reader <------- begun, ended <------- transport     how it began and ended
//
// Both sides hold it by shared_ptr and neither waits for the other inside: a reader that goes
// calls abandon(), and the transport then ends its side in its own time. So no transport ever
// holds a pointer into a reader's coroutine frame.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "process/bell.hpp"

namespace unplug {

struct Ending {
  enum class How {
    kExited,
    kSignalled,
    kLost,     // nobody knows what became of it
    kRefused,  // it was never begun
  };
  How how = How::kLost;
  int status = -1;     // when exited
  std::string signal;  // when signalled, without "SIG"
  std::string why;     // when lost or refused
};

// One direction of output.
struct Output {
  enum class WhenFull {
    kDrop,  // the first `most` bytes are kept; the command never waits for us
    kHold,  // the transport stops reading until the reader has taken some
  };
  std::size_t most = 8u << 20;
  WhenFull when_full = WhenFull::kDrop;
  std::string bytes;
  bool dropped = false;

  bool full() const { return when_full == WhenFull::kHold && bytes.size() >= most; }

  void add(std::string_view more) {
    if (when_full == WhenFull::kDrop && bytes.size() + more.size() > most) {
      dropped = true;
      more = more.substr(0, most - std::min(most, bytes.size()));
    }
    bytes += more;
  }
};

class Process {
 public:
  explicit Process(asio::any_io_executor executor) : changed(std::move(executor)) {}

  // For the reader.
  void send(std::string_view bytes) { input_ += bytes, touch(); }
  void end_input() { input_ended = true, touch(); }
  void taken() { touch(); }  // room was made in `out`
  void abandon() { abandoned = true, changed.ring(), touch(); }

  // For the transport.
  bool input_empty() const { return input_at_ == input_.size(); }
  std::string take_input(std::size_t most) {
    std::string block = input_.substr(input_at_, most);
    input_at_ += block.size();
    if (input_empty()) input_.clear(), input_at_ = 0;
    return block;
  }
  void drop_input() { input_.clear(), input_at_ = 0; }
  void finish(Ending how) {
    if (!ended) ended = std::move(how);
    changed.ring();
  }

  Output out, err;
  bool begun = false;  // the command itself runs, not only the login shell
  std::optional<Ending> ended;
  Bell changed;  // rings when the transport changed anything

  bool input_ended = false;
  bool abandoned = false;
  std::function<void()> on_touch;  // set by the transport; holds it weakly

 private:
  void touch() {
    if (on_touch) on_touch();
  }

  std::string input_;  // from input_at_ on not taken yet
  std::size_t input_at_ = 0;
};

// Abandons the process when its reader goes, by whichever way.
class Held {
 public:
  explicit Held(std::shared_ptr<Process> process) : process_(std::move(process)) {}
  ~Held() {
    if (process_) process_->abandon();
  }
  Held(Held&&) = default;
  Held& operator=(Held&&) = delete;
  Process* operator->() const { return process_.get(); }
  Process& operator*() const { return *process_; }

 private:
  std::shared_ptr<Process> process_;
};

}  // namespace unplug
