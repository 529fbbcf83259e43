// From an address to a session one may use: connection, handshake, host key, authentication,
// all under one deadline.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <memory>
#include <string>
#include <vector>

#include "base/boot_clock.hpp"

namespace unplug::ssh {

namespace asio = boost::asio;

class Link;

struct Login {
  std::string address;
  int port = 22;
  std::string user;
  std::string identity;     // private key file; empty = the agent's keys, then those of `keys`
  std::string host_key;     // "SHA256:..."; empty = known_hosts decides
  std::string known_hosts;  // path of the file that is written in
  std::vector<std::string> also_known;  // more such files, only read
  std::vector<std::string> keys;        // private key files that are tried without an identity
  std::string agent;                    // its socket; empty = SSH_AUTH_SOCK, "none" = no agent
  std::vector<std::string> words;       // of `ssh`: what the lab file states, and the host
};

struct LoginResult {
  enum class End {
    kDone,
    kRefused,   // the host, or we, said no: trying again changes nothing by itself
    kNoAnswer,  // no connection
    kDropped,   // it broke off: worth another try, see MaxStartups in sshd_config
    kTimedOut,
  };
  // Which step failed, for whoever mends it.
  enum class Step { kNone, kConfig, kReach, kAlgorithms, kHostKey, kKey, kShell };
  End end = End::kRefused;
  std::string why;
  Step step = Step::kNone;
  bool ssh_could = false;  // the ssh program can what failed here
};

// It waited for its turn (gate.hpp) until the deadline: `where`, in words.
LoginResult kept_waiting(const Login& login, const char* where);

asio::awaitable<LoginResult> log_in(std::shared_ptr<Link> link, Login login, Deadline deadline);

}  // namespace unplug::ssh
