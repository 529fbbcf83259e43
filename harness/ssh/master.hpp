// A connection by the `ssh` program: one control master, and a client of it for each command.
//
//      sh ── exec ──> ssh -M -N -S FOLDER/s HOST      says "up NONCE" by LocalCommand, once logged
//      in
//       └── watches its stdin, a pipe of ours: at its end all of the group is killed
//
// For what libssh2 cannot do: jump hosts, RSA keys with an old libssh2, keys on hardware, hardened
// servers. All that the user's OpenSSH configuration says holds, but: strict host keys, no
// questions, no forwarding. SAFETY: when this program dies, by whatever way, its pipe ends, and
// with it the master and all its clients (tests/e2e/transport.test).
#pragma once

#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <string>

#include "ssh/connection.hpp"
#include "ssh/mux_client.hpp"

namespace unplug::ssh {

class Master final : public Connection, public std::enable_shared_from_this<Master> {
 public:
  static std::shared_ptr<Master> make(asio::any_io_executor executor,
                                      std::function<void(std::string why)> on_lost);
  ~Master() override;

  asio::awaitable<LoginResult> log_in(Login login, Deadline deadline) override;
  std::shared_ptr<Process> start(std::string_view line) override;
  std::shared_ptr<Process> start_kept(std::string_view line) override;
  bool is_up() const override { return up_; }
  void lose(std::string why) override;
  void close() override;

 private:
  Master(asio::any_io_executor executor, std::function<void(std::string)> on_lost);

  asio::awaitable<LoginResult> wait_until_up(Login login, std::string word, Deadline deadline);
  asio::awaitable<void> watch();
  std::shared_ptr<MuxClient> client_for(std::string_view line, std::shared_ptr<Process>& process);
  void admit();
  void end(const std::string& why);

  asio::any_io_executor executor_;
  std::function<void(std::string)> on_lost_;
  std::string folder_;  // private to us; holds the control socket
  std::shared_ptr<Process> process_;
  std::shared_ptr<Child> child_;
  std::deque<std::shared_ptr<MuxClient>> waiting_;
  std::list<std::shared_ptr<MuxClient>> open_;
  std::weak_ptr<MuxClient> kept_;
  bool up_ = false, closed_ = false;
};

// The words of `ssh` for a master of this login, after "ssh". Pure.
std::vector<std::string> master_words(const Login& login, const std::string& socket,
                                      const std::string& up_word);

}  // namespace unplug::ssh
