// One SSH session: logs in, then drives all its channels from one place, in turns.
//
// A turn steps every channel until nothing moves, then waits for the socket. Three rules, each
// paid for (libssh2 1.10):
//   1. a packet that is half sent has one owner: until it is out, only its call is made again;
//   2. any call may take packets of other channels off the socket, so every turn steps them all;
//   3. a call that waits for no direction waits for both.
// Turns are always posted, never nested: libssh2 marks a half-sent EOF by a stack address.
// Readers and writers are elsewhere: they share a Process with their channel and never call
// libssh2, so a reader that is dropped cannot leave a packet half sent.
#pragma once

#include <boost/asio/steady_timer.hpp>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <string>

#include "process/process.hpp"
#include "ssh/connection.hpp"

namespace unplug::ssh {

class Channel;

class Session final : public Connection, public std::enable_shared_from_this<Session> {
 public:
  // `on_lost` is called once, after all channels have ended as lost; not after close().
  static std::shared_ptr<Session> make(asio::any_io_executor executor,
                                       std::function<void(std::string why)> on_lost);
  ~Session() override;

  asio::awaitable<LoginResult> log_in(Login login, Deadline deadline) override;

  // Starts `line` in a POSIX sh. Over the limit of channels it waits for one to close.
  std::shared_ptr<Process> start(std::string_view line) override;
  std::shared_ptr<Process> start_kept(std::string_view line) override;

  bool is_up() const override { return up_; }
  void lose(std::string why) override;
  void close() override;

 private:
  explicit Session(asio::any_io_executor executor, std::function<void(std::string)> on_lost);

  std::unique_ptr<Channel> channel_for(std::string_view line, std::shared_ptr<Process>& process);
  void schedule_turn();
  void turn();
  bool admit();
  void forget(const Channel* channel);
  bool step_all();
  void sleep_until_needed();
  void end(const std::string& why);

  asio::any_io_executor executor_;
  std::function<void(std::string)> on_lost_;
  std::shared_ptr<Link> link_;
  std::deque<std::unique_ptr<Channel>> waiting_;
  std::list<std::unique_ptr<Channel>> open_;
  Channel* owner_ = nullptr;       // of the half-sent packet
  const Channel* kept_ = nullptr;  // open, or first in the line; null: its place is free
  bool up_ = false, scheduled_ = false;
  asio::steady_timer alarm_;
};

}  // namespace unplug::ssh
