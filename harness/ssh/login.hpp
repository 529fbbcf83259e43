// From an address to a session one may use: connection, handshake, host key, authentication,
// all under one deadline.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <memory>
#include <string>

#include "base/boot_clock.hpp"

namespace unplug::ssh {

namespace asio = boost::asio;

class Link;

struct Login {
  std::string address;
  int port = 22;
  std::string user;
  std::string identity;     // private key file; empty = the agent's keys
  std::string host_key;     // "SHA256:..."; empty = known_hosts decides
  std::string known_hosts;  // path of the file
};

struct LoginResult {
  enum class End {
    kDone,
    kRefused,   // the host, or we, said no: trying again changes nothing by itself
    kNoAnswer,  // no connection
    kDropped,   // it broke off: worth another try, see MaxStartups in sshd_config
    kTimedOut,
  };
  End end = End::kRefused;
  std::string why;
};

asio::awaitable<LoginResult> log_in(std::shared_ptr<Link> link, Login login, Deadline deadline);

}  // namespace unplug::ssh
