#include "ssh/auth.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <vector>

#include "ssh/blob.hpp"
#include "ssh/key_file.hpp"
#include "ssh/link.hpp"
#include "ssh/read_file.hpp"

namespace unplug::ssh {
namespace {

using End = LoginResult::End;
using Step = LoginResult::Step;

constexpr int kMostAgentKeys = 5;

std::string who(const Login& login) {
  return fmt::format("{}@{}:{}", login.user, login.address, login.port);
}

// The public half of an identity, from the file beside it: reading it from there needs no
// passphrase.
std::string public_blob(const std::string& identity) {
  std::istringstream words(read_file(identity + ".pub"));
  std::string type, blob;
  words >> type >> blob;
  return from_base64(blob);
}

bool signs_rsa_with_sha2() { return libssh2_version(0x010b00) != nullptr; }

// One of an agent's keys that the ssh program can use, and this libssh2 cannot.
bool only_ssh_can(const libssh2_agent_publickey& key) {
  const std::string_view blob(reinterpret_cast<const char*>(key.blob), key.blob_len);
  const std::string type = first_string(blob);
  return type.starts_with("sk-") || (type == "ssh-rsa" && !signs_rsa_with_sha2());
}

LoginResult broke_off(const Link& link, const Login& login, int rc) {
  if (rc == LIBSSH2_ERROR_TIMEOUT) {
    return {End::kTimedOut, who(login) + ": no answer to the login", Step::kKey};
  }
  return {End::kDropped, who(login) + ": the login broke off: " + link.last_error(), Step::kKey};
}

bool is_refusal(int rc) {
  return rc == LIBSSH2_ERROR_AUTHENTICATION_FAILED || rc == LIBSSH2_ERROR_PUBLICKEY_UNVERIFIED;
}

LoginResult key_refused(const Link& link, const Login& login, const KeyFile& key, int rc) {
  if (!is_refusal(rc) && rc != LIBSSH2_ERROR_FILE) return broke_off(link, login, rc);
  if (key.type == KeyFile::Type::kRsa && !signs_rsa_with_sha2()) {
    return {End::kRefused,
            fmt::format("{}: {} is an RSA key, and libssh2 {} signs those with SHA-1 only, which "
                        "servers refuse; make an ed25519 key (ssh-keygen -t ed25519)",
                        who(login), login.identity, libssh2_version(0)),
            Step::kKey, true};
  }
  return {End::kRefused,
          fmt::format("{}: the server refused the key {} ({}); append {}.pub to "
                      "~{}/.ssh/authorized_keys there",
                      who(login), login.identity, link.last_error(), login.identity, login.user),
          Step::kKey};
}

asio::awaitable<LoginResult> by_file(std::shared_ptr<Link> link, Login login, KeyFile key,
                                     Deadline deadline) {
  const std::string pub = login.identity + ".pub";
  const bool has_pub = std::ifstream(pub).good();  // else libssh2 derives it
  std::function<int()> call = [link, login, pub, has_pub] {
    return libssh2_userauth_publickey_fromfile_ex(
        link->session(), login.user.data(), static_cast<unsigned>(login.user.size()),
        has_pub ? pub.c_str() : nullptr, login.identity.c_str(), nullptr);
  };
  const int rc = co_await link->finish(std::move(call), deadline);
  if (rc != 0) co_return key_refused(*link, login, key, rc);
  co_return LoginResult{End::kDone, {}};
}

// The agent's end of a session. libssh2 reads its socket blocking: 0.2 ms for a local agent, but
// a hardware key that waits for a touch would hold the loop.
class Agent {
 public:
  explicit Agent(std::shared_ptr<Link> link)
      : link_(std::move(link)), agent_(libssh2_agent_init(link_->session())) {}
  ~Agent() {
    if (agent_ == nullptr) return;
    libssh2_agent_disconnect(agent_);
    libssh2_agent_free(agent_);
  }
  Agent(const Agent&) = delete;
  Agent& operator=(const Agent&) = delete;

  // `path` is its socket; empty = SSH_AUTH_SOCK.
  bool list(const std::string& path) {
    if (agent_ == nullptr || path == "none") return false;
    if (!path.empty()) libssh2_agent_set_identity_path(agent_, path.c_str());
    return libssh2_agent_connect(agent_) == 0 && libssh2_agent_list_identities(agent_) == 0;
  }

  // All keys, or the one of this public half.
  std::vector<libssh2_agent_publickey*> keys(const std::string& blob) const {
    std::vector<libssh2_agent_publickey*> found;
    libssh2_agent_publickey *key = nullptr, *previous = nullptr;
    while (libssh2_agent_get_identity(agent_, &key, previous) == 0) {
      const std::string own(reinterpret_cast<const char*>(key->blob), key->blob_len);
      if (blob.empty() || own == blob) found.push_back(key);
      previous = key;
    }
    return found;
  }

  LIBSSH2_AGENT* get() const { return agent_; }

 private:
  std::shared_ptr<Link> link_;  // the agent is part of the session
  LIBSSH2_AGENT* agent_;
};

std::string agent_socket(const Login& login) {
  if (!login.agent.empty()) return "IdentityAgent " + login.agent;
  const char* path = std::getenv("SSH_AUTH_SOCK");
  return path == nullptr ? "SSH_AUTH_SOCK is not set" : "SSH_AUTH_SOCK=" + std::string(path);
}

LoginResult no_such_file(const Login& login) {
  return {
      End::kRefused,
      fmt::format("{}: the key file {} cannot be read; correct identity in the lab file, or make "
                  "one with `ssh-keygen -t ed25519 -f {}` and append its .pub to "
                  "~{}/.ssh/authorized_keys there",
                  who(login), login.identity, login.identity, login.user),
      Step::kKey};
}

LoginResult no_agent_key(const Login& login, const std::string& trouble) {
  const std::string todo =
      login.identity.empty()
          ? "set identity in the lab file to a key without passphrase, or ssh-add one"
          : fmt::format("run `ssh-add {}`, or name a key without passphrase", login.identity);
  return {End::kRefused, fmt::format("{}: {}; {}", who(login), trouble, todo), Step::kKey};
}

asio::awaitable<LoginResult> by_agent(std::shared_ptr<Link> link, Login login, std::string blob,
                                      std::string why_agent, Deadline deadline) {
  const auto agent = std::make_shared<Agent>(link);
  if (!agent->list(login.agent)) {
    co_return no_agent_key(login, why_agent + "no ssh-agent answers (" + agent_socket(login) + ")");
  }
  int tried = 0;
  bool ssh_could = false;
  for (libssh2_agent_publickey* key : agent->keys(blob)) {
    if (++tried > kMostAgentKeys) break;
    ssh_could = ssh_could || only_ssh_can(*key);
    std::function<int()> call = [agent, login, key] {
      return libssh2_agent_userauth(agent->get(), login.user.c_str(), key);
    };
    const int rc = co_await link->finish(std::move(call), deadline);
    if (rc == 0) co_return LoginResult{End::kDone, {}};
    if (!is_refusal(rc)) co_return broke_off(*link, login, rc);
  }
  if (tried == 0) co_return no_agent_key(login, why_agent + "the ssh-agent holds no such key");
  co_return LoginResult{
      End::kRefused,
      fmt::format("{}: the server refused {} key{} of the ssh-agent; name one with "
                  "identity, and append its .pub to ~{}/.ssh/authorized_keys there",
                  who(login), std::min(tried, kMostAgentKeys), tried == 1 ? "" : "s", login.user),
      Step::kKey, ssh_could};
}

// As OpenSSH does without a stated key: those of the agent, then the user's own files.
asio::awaitable<LoginResult> by_any_key(std::shared_ptr<Link> link, Login login,
                                        Deadline deadline) {
  const std::string any_key, no_file;
  LoginResult first = co_await by_agent(link, login, any_key, no_file, deadline);
  if (first.end != End::kRefused) co_return first;
  for (const std::string& path : login.keys) {
    const KeyFile key = describe_key(read_file(path));
    if (key.encrypted) continue;
    Login by_this = login;
    by_this.identity = path;
    LoginResult result = co_await by_file(link, std::move(by_this), key, deadline);
    if (result.end != End::kRefused) co_return result;
    result.ssh_could = result.ssh_could || first.ssh_could;
    first = std::move(result);
  }
  co_return first;
}

}  // namespace

asio::awaitable<LoginResult> authenticate(std::shared_ptr<Link> link, Login login,
                                          Deadline deadline) {
  if (login.identity.empty()) co_return co_await by_any_key(link, login, deadline);
  const KeyFile key = describe_key(read_file(login.identity));
  if (key.type != KeyFile::Type::kNoKey && !key.encrypted) {
    co_return co_await by_file(link, login, key, deadline);
  }
  const std::string trouble = key.encrypted ? login.identity + " needs a passphrase, and "
                                            : login.identity + " holds no private key, and ";
  const std::string blob = public_blob(login.identity);
  if (blob.empty() && !std::ifstream(login.identity).good()) co_return no_such_file(login);
  if (blob.empty()) co_return no_agent_key(login, trouble + "there is no .pub beside it");
  co_return co_await by_agent(link, login, blob, trouble, deadline);
}

}  // namespace unplug::ssh
