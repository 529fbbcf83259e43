#include "ssh/login.hpp"

#include <fmt/format.h>

#include <boost/asio/this_coro.hpp>

#include "ssh/auth.hpp"
#include "ssh/gate.hpp"
#include "ssh/host_key.hpp"
#include "ssh/known_hosts.hpp"
#include "ssh/link.hpp"
#include "ssh/read_file.hpp"

namespace unplug::ssh {
namespace {

using End = LoginResult::End;
using Step = LoginResult::Step;

std::string place(const Login& login) { return fmt::format("{}:{}", login.address, login.port); }

LoginResult handshake_failed(const Link& link, const Login& login, int rc) {
  if (rc == LIBSSH2_ERROR_TIMEOUT) {
    return {End::kTimedOut,
            place(login) + " took the TCP connection but did not speak SSH until the deadline",
            Step::kReach};
  }
  if (rc == LIBSSH2_ERROR_KEX_FAILURE || rc == LIBSSH2_ERROR_KEY_EXCHANGE_FAILURE) {
    return {
        End::kRefused,
        fmt::format("{}: no common algorithm: {}. libssh2 {} needs an ed25519 or ecdsa host key "
                    "and aes-ctr with hmac-sha2 at the server",
                    place(login), link.last_error(), libssh2_version(0)),
        Step::kAlgorithms, true};
  }
  // -43 and -13: the server dropped us, as MaxStartups makes it do when many come at once.
  return {End::kDropped, fmt::format("{}: handshake: {}", place(login), link.last_error()),
          Step::kReach};
}

std::string known_text(const Login& login) {
  std::string text = read_file(login.known_hosts);
  for (const std::string& more : login.also_known) text += "\n" + read_file(more);
  return text;
}

asio::awaitable<LoginResult> handshake_and_key(std::shared_ptr<Link> link, Login login,
                                               Deadline deadline) {
  if (!link->begin_session()) co_return LoginResult{End::kRefused, "libssh2 has no memory"};
  const KnownKeys known = login.host_key.empty()
                              ? known_keys(known_text(login), login.address, login.port)
                              : KnownKeys{};
  const std::string methods = host_key_methods(known, supported_host_keys(link->session()));
  libssh2_session_method_pref(link->session(), LIBSSH2_METHOD_HOSTKEY, methods.c_str());
  std::function<int()> call = [link] {
    return libssh2_session_handshake(link->session(), link->socket());
  };
  const int rc = co_await link->finish(std::move(call), deadline);
  if (rc != 0) co_return handshake_failed(*link, login, rc);

  const std::string wrong = check_host_key(seen_host_key(link->session()), login, known);
  if (!wrong.empty()) co_return LoginResult{End::kRefused, wrong, Step::kHostKey};
  co_return co_await authenticate(link, login, deadline);
}

}  // namespace

LoginResult kept_waiting(const Login& login, const char* where) {
  return {End::kTimedOut,
          fmt::format("{}: its turn to log in did not come before the deadline: {}; give the run "
                      "fewer nodes, or look which of them do not answer",
                      place(login), where)};
}

asio::awaitable<LoginResult> log_in(std::shared_ptr<Link> link, Login login, Deadline deadline) {
  const auto executor = co_await asio::this_coro::executor;
  Gates& gates = Gates::of(executor);
  // sshd counts a connection from its first moment on.
  const auto at_address = co_await gates.to(login.address)->enter(deadline);
  if (!at_address) co_return kept_waiting(login, "others were logging in at this address");

  const std::string refused = co_await link->connect(login.address, login.port, deadline);
  if (!refused.empty()) {
    const End end = BootClock::now() >= deadline ? End::kTimedOut : End::kNoAnswer;
    co_return LoginResult{end, place(login) + ": " + refused, Step::kReach};
  }
  // Only who has a connection waits here: hosts that are dead keep nobody waiting.
  const auto in_all = co_await gates.all()->enter(deadline);
  if (!in_all) co_return kept_waiting(login, "too many others were logging in");
  co_return co_await handshake_and_key(link, login, deadline);
}

}  // namespace unplug::ssh
