#include "ssh/channel.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cstdlib>

#include "process/script.hpp"

namespace unplug::ssh {
namespace {

// One read, and one write, at most: a packet's payload in libssh2 is 32,500 bytes.
constexpr std::size_t kBlock = 32'768;

// Of blocks in one step, so that a sender as fast as we are does not keep the loop.
constexpr int kMostRounds = 16;

// A killed command's output may be held open by children in the background; what it printed
// itself is here by then.
constexpr auto kGrace = std::chrono::seconds{1};

bool breaks_session(long rc) {
  switch (rc) {
    case LIBSSH2_ERROR_SOCKET_SEND:
    case LIBSSH2_ERROR_SOCKET_RECV:
    case LIBSSH2_ERROR_SOCKET_DISCONNECT:
    case LIBSSH2_ERROR_BAD_USE:  // a half-sent packet that can no longer be finished
    case LIBSSH2_ERROR_PROTO:
    case LIBSSH2_ERROR_DECRYPT:
    case LIBSSH2_ERROR_INVALID_MAC:
    case LIBSSH2_ERROR_KEY_EXCHANGE_FAILURE:
      return true;
    default:
      return false;
  }
}

int number(const std::string& text) {
  int value = -1;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

}  // namespace

Channel::Channel(std::shared_ptr<Process> process, std::string_view line, std::string nonce)
    : process_(std::move(process)),
      command_(framed_command(line, nonce)),
      out_(nonce),
      err_(nonce) {}

Channel::Step Channel::step(Link& link) {
  if (process_->abandoned && half_sent_ == Call::kNone && state_ == State::kTalking) {
    state_ = State::kClosing;
  }
  Step step = Step::kIdle;
  if (state_ == State::kOpening) step = open(link);
  if (step == Step::kIdle && state_ == State::kStarting) step = start(link);
  if (step == Step::kIdle && state_ == State::kTalking) step = talk(link);
  if (step == Step::kIdle && state_ == State::kClosing) step = close(link);
  return step;
}

void Channel::lose(const std::string& why) { process_->finish({Ending::How::kLost, -1, {}, why}); }

Channel::Step Channel::refuse(Ending::How how, std::string why) {
  process_->finish({how, -1, {}, std::move(why)});
  state_ = State::kClosing;
  return channel_ == nullptr ? Step::kGone : Step::kIdle;
}

Channel::Step Channel::open(Link& link) {
  if (command_.size() > kLongestCommand) {
    return refuse(Ending::How::kRefused, too_long(command_.size()));
  }
  channel_ = libssh2_channel_open_session(link.session());
  if (channel_ != nullptr) {
    state_ = State::kStarting;
    return Step::kIdle;
  }
  const int rc = libssh2_session_last_errno(link.session());
  if (rc == LIBSSH2_ERROR_EAGAIN) return link.half_sent() ? Step::kHalfSent : Step::kIdle;
  if (breaks_session(rc)) return Step::kBroken;
  return refuse(Ending::How::kRefused,
                "the server opened no channel (MaxSessions?): " + link.last_error());
}

Channel::Step Channel::start(Link& link) {
  if (process_->abandoned && !start_made_) {
    state_ = State::kClosing;
    return Step::kIdle;
  }
  start_made_ = true;
  const int rc = libssh2_channel_process_startup(channel_, "exec", 4, command_.data(),
                                                 static_cast<unsigned>(command_.size()));
  if (rc == LIBSSH2_ERROR_EAGAIN) return link.half_sent() ? Step::kHalfSent : Step::kIdle;
  if (breaks_session(rc)) return Step::kBroken;
  if (rc == LIBSSH2_ERROR_CHANNEL_REQUEST_DENIED) {
    return refuse(Ending::How::kRefused, "the server would not execute a command");
  }
  // libssh2 1.10 says -1 when a new key exchange comes in between: the command may well run.
  if (rc != 0) {
    return refuse(Ending::How::kLost,
                  "the server's answer to the command was lost: " + link.last_error());
  }
  state_ = State::kTalking;
  return Step::kIdle;
}

Channel::Step Channel::talk(Link& link) {
  bool moved = true;
  for (int round = 0; moved && state_ == State::kTalking; ++round) {
    if (round == kMostRounds) return Step::kMore;
    moved = false;
    for (const Call call : {Call::kReadOut, Call::kReadErr, Call::kWrite, Call::kEndInput}) {
      if (half_sent_ != Call::kNone && half_sent_ != call) continue;
      const long rc = make(call, link);
      if (rc == LIBSSH2_ERROR_EAGAIN && link.half_sent()) {
        half_sent_ = call;
        return Step::kHalfSent;
      }
      half_sent_ = Call::kNone;
      if (breaks_session(rc)) return Step::kBroken;
      if (rc < 0 && rc != LIBSSH2_ERROR_EAGAIN) {
        return refuse(Ending::How::kLost, "the channel broke: " + link.last_error());
      }
      moved = moved || rc > 0;
    }
    look_for_the_end();
  }
  return Step::kIdle;
}

// How many bytes it moved, 0 when there is nothing to do, or libssh2's error.
long Channel::make(Call call, Link& link) {
  switch (call) {
    case Call::kReadOut:
      return process_->out.full() && half_sent_ == Call::kNone ? 0 : read(0);
    case Call::kReadErr:
      return read(SSH_EXTENDED_DATA_STDERR);
    case Call::kWrite:
      return write();
    case Call::kEndInput:
      return end_input(link);
    case Call::kNone:
      break;
  }
  return 0;
}

long Channel::read(int stream) {
  static std::array<char, kBlock> block;  // one thread; a retry must bring the same buffer
  const long got = libssh2_channel_read_ex(channel_, stream, block.data(), block.size());
  if (got <= 0) return got;  // 1.10 may say 0 before EOF: look_for_the_end() asks channel_eof
  const std::string_view bytes(block.data(), static_cast<std::size_t>(got));
  const bool is_out = stream == 0;
  Output& output = is_out ? process_->out : process_->err;
  Frame& frame = is_out ? out_ : err_;
  frame.feed(bytes, [&output](std::string_view data) { output.add(data); });
  process_->begun = process_->begun || out_.begun();
  process_->changed.ring();
  return got;
}

long Channel::write() {
  if (sent_ == sending_.size()) {
    sending_ = process_->take_input(kBlock);
    sent_ = 0;
  }
  if (sending_.empty()) return 0;
  const long put =
      libssh2_channel_write(channel_, sending_.data() + sent_, sending_.size() - sent_);
  if (put > 0) {
    sent_ += static_cast<std::size_t>(put);
    process_->changed.ring();
  }
  // The command closed its stdin or is ending: what it made of it, its status tells.
  if (put == LIBSSH2_ERROR_CHANNEL_CLOSED || put == LIBSSH2_ERROR_CHANNEL_EOF_SENT) {
    sending_.clear(), process_->drop_input(), sent_ = 0;
    return 0;
  }
  return put;
}

long Channel::end_input(Link& link) {
  const bool all_sent = process_->input_empty() && sent_ == sending_.size();
  if (input_ended_ || !process_->input_ended || !all_sent) return 0;
  // libssh2 keeps a pointer into the *stack* as the mark of a half-sent EOF, so it must go out
  // whole: a socket that polls writable takes these few bytes.
  if (half_sent_ == Call::kNone && !link.writable()) {
    link.wait_for(LIBSSH2_SESSION_BLOCK_OUTBOUND);
    return 0;
  }
  const int rc = libssh2_channel_send_eof(channel_);
  if (rc == 0) input_ended_ = true;
  return rc;
}

void Channel::look_for_the_end() {
  const bool both_marks = out_.end() && err_.end();
  const bool eof = libssh2_channel_eof(channel_) == 1;
  if (both_marks || (out_.end() && eof)) {
    process_->finish({Ending::How::kExited, number(*out_.end()), {}, {}});
    state_ = State::kClosing;
    return;
  }
  look_for_a_signal();
  const bool graceless = grace_ends_ && BootClock::now() >= *grace_ends_;
  // The status or signal comes before the remote close, which wait_closed tells without waiting.
  if (graceless || (eof && libssh2_channel_wait_closed(channel_) != LIBSSH2_ERROR_EAGAIN)) {
    out_.flush([this](std::string_view data) { process_->out.add(data); });
    err_.flush([this](std::string_view data) { process_->err.add(data); });
    look_for_a_signal();
    process_->finish(without_mark());
    state_ = State::kClosing;
  }
}

void Channel::look_for_a_signal() {
  if (!signal_.empty()) return;
  char* name = nullptr;
  std::size_t size = 0;
  libssh2_channel_get_exit_signal(channel_, &name, &size, nullptr, nullptr, nullptr, nullptr);
  if (name == nullptr) return;
  signal_.assign(name, size);
  // The session's allocator is the C library's: begin_session gives none of its own.
  std::free(name);
  grace_ends_ = within(kGrace);
}

Ending Channel::without_mark() const {
  if (!out_.begun()) {
    const std::string& noise = out_.noise().empty() ? err_.noise() : out_.noise();
    return {Ending::How::kRefused,
            -1,
            {},
            fmt::format("the login shell ended ({}) before the command began{}{}",
                        signal_.empty()
                            ? fmt::format("status {}", libssh2_channel_get_exit_status(channel_))
                            : signal_,
                        noise.empty() ? "" : "; it said: ", noise)};
  }
  if (!signal_.empty()) return {Ending::How::kSignalled, -1, signal_, {}};
  return {Ending::How::kLost, -1, {}, "the channel ended without the command's end mark"};
}

Channel::Step Channel::close(Link& link) {
  if (!link.writable()) {  // closing may send EOF: see end_input
    link.wait_for(LIBSSH2_SESSION_BLOCK_OUTBOUND);
    return Step::kIdle;
  }
  const int rc = libssh2_channel_free(channel_);
  if (rc == LIBSSH2_ERROR_EAGAIN) return link.half_sent() ? Step::kHalfSent : Step::kIdle;
  return breaks_session(rc) ? Step::kBroken : Step::kGone;
}

}  // namespace unplug::ssh
