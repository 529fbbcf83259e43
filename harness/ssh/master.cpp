#include "ssh/master.hpp"

#include <fmt/format.h>
#include <stdlib.h>
#include <unistd.h>

#include <boost/asio/co_spawn.hpp>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <sstream>

#include "process/script.hpp"
#include "ssh/complaint.hpp"
#include "ssh/gate.hpp"

namespace unplug::ssh {
namespace {

using End = LoginResult::End;
using Step = LoginResult::Step;

// A socket's path has 104 bytes on darwin, and ssh binds it under a name that is 17 longer.
constexpr std::size_t kLongestFolder = 104 - 17 - 16;

// What stands before ssh. Nothing may ask: the hosts on the way do not know of our BatchMode.
constexpr const char* kMasterScript =
    "folder=$1; shift; SSH_ASKPASS=/bin/false SSH_ASKPASS_REQUIRE=force; "
    "export SSH_ASKPASS SSH_ASKPASS_REQUIRE; exec 3<&0 </dev/null; "
    "(cat <&3; rm -rf \"$folder\"; kill 0) >/dev/null 2>&1 & exec ssh \"$@\" 3<&-";

// Known is the pinned key alone: ssh asks this for the key that it saw (and for NONE before it
// has seen one), and we learn of it by stderr. It must end with 0, or ssh gives up.
std::string pin_command(const std::string& pin) {
  return fmt::format(R"sh(/bin/sh -c 'if [ "$1" != NONE ]; then echo "{} $2 $1" >&2; fi; )sh"
                     R"sh(if [ "$1" = "$0" ]; then echo "$3 $2 $4"; fi' {} %f %t %H %K)sh",
                     kSaw, pin);
}

// Mode 0700; empty when it cannot be made.
std::string private_folder() {
  std::error_code error;
  std::string parent = std::filesystem::temp_directory_path(error).string();
  if (error || parent.size() > kLongestFolder) parent = "/tmp";
  std::string folder = parent + "/unplug-XXXXXX";
  return ::mkdtemp(folder.data()) == nullptr ? "" : folder;
}

void rethrow_bug(std::exception_ptr bug) {
  if (bug) std::rethrow_exception(bug);
}

std::string host_port(const Login& login) {
  return fmt::format("{}:{}", login.address, login.port);
}

LoginResult not_there(const Login& login) {
  return {End::kRefused,
          fmt::format("{}: the key file {} cannot be read; correct identity in the lab file, or "
                      "make one with `ssh-keygen -t ed25519 -f {}` and append its .pub to "
                      "~{}/.ssh/authorized_keys there",
                      host_port(login), login.identity, login.identity, login.user),
          Step::kKey};
}

// What it said last, but for our own check of the host key.
std::string last_words(const std::string& text) {
  std::string last;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    while (!line.empty() && line.back() == '\r') line.pop_back();
    if (!line.empty() && !line.starts_with(kSaw)) last = line;
  }
  return last;
}

std::string how_it_went(const Process& process) {
  const std::string said = last_words(process.err.bytes);
  if (!said.empty()) return "the ssh program says: " + said;
  const Ending& ending = *process.ended;
  return ending.how == Ending::How::kSignalled
             ? "the ssh program was killed by " + ending.signal
             : fmt::format("the ssh program ended with {}", ending.status);
}

}  // namespace

std::vector<std::string> master_words(const Login& login, const std::string& socket,
                                      const std::string& up_word) {
  std::vector<std::string> words = {"-M", "-N", "-T", "-a", "-x", "-S", socket};
  const auto option = [&words](std::string text) {
    words.emplace_back("-o");
    words.push_back(std::move(text));
  };
  // SAFETY: a key that is not known is never taken, nor is the user's file written. Below INFO ssh
  // ends without a word when the server closes on it.
  for (const char* fixed : {"StrictHostKeyChecking=yes", "UpdateHostKeys=no", "BatchMode=yes",
                            "ControlPersist=no", "ClearAllForwardings=yes", "RemoteCommand=none",
                            "LogLevel=INFO", "ConnectionAttempts=1", "PermitLocalCommand=yes"}) {
    option(fixed);
  }
  option("LocalCommand=echo " + up_word);
  if (!login.host_key.empty()) {
    option("UserKnownHostsFile=/dev/null");
    option("GlobalKnownHostsFile=/dev/null");
    option("KnownHostsCommand=" + pin_command(login.host_key));
  }
  words.insert(words.end(), login.words.begin(), login.words.end());
  return words;
}

std::shared_ptr<Master> Master::make(asio::any_io_executor executor,
                                     std::function<void(std::string)> on_lost) {
  return std::shared_ptr<Master>(new Master(std::move(executor), std::move(on_lost)));
}

Master::Master(asio::any_io_executor executor, std::function<void(std::string)> on_lost)
    : executor_(executor),
      on_lost_(std::move(on_lost)),
      process_(std::make_shared<Process>(executor)) {}

Master::~Master() { close(); }

asio::awaitable<LoginResult> Master::log_in(Login login, Deadline deadline) {
  const auto self = shared_from_this();
  if (!login.identity.empty() && ::access(login.identity.c_str(), R_OK) != 0 &&
      ::access((login.identity + ".pub").c_str(), R_OK) != 0) {
    co_return not_there(login);
  }
  const auto at_address = co_await Gates::of(executor_).to(login.address)->enter(deadline);
  if (!at_address) co_return kept_waiting(login, "others were logging in at this address");
  folder_ = private_folder();
  if (folder_.empty()) {
    co_return LoginResult{End::kRefused, "no folder for ssh's socket can be made in /tmp"};
  }
  const std::string word = "up-" + make_nonce();
  std::vector<std::string> argv = {"/bin/sh", "-c", kMasterScript, "unplug", folder_};
  for (std::string& text : master_words(login, folder_ + "/s", word)) {
    argv.push_back(std::move(text));
  }
  const Program ssh{std::move(argv), home_folder(), Program::WhenAbandoned::kKill};
  child_ = start_child(executor_, ssh, process_);
  const LoginResult result = co_await wait_until_up(login, word, deadline);
  if (result.end != End::kDone) close();
  co_return result;
}

asio::awaitable<LoginResult> Master::wait_until_up(Login login, std::string word,
                                                   Deadline deadline) {
  while (!closed_ && !process_->ended && BootClock::now() < deadline) {
    if (process_->out.bytes.find(word) != std::string::npos) {
      up_ = true;
      asio::co_spawn(
          executor_, [self = shared_from_this()] { return self->watch(); }, rethrow_bug);
      co_return LoginResult{End::kDone, {}};
    }
    co_await process_->changed.wait(deadline);
  }
  if (closed_) co_return LoginResult{End::kRefused, "the node was closed"};
  if (process_->ended) co_return complaint(process_->err.bytes, login);
  const std::string said = last_words(process_->err.bytes);
  co_return LoginResult{End::kTimedOut,
                        fmt::format("{}: no login by the ssh program until the deadline{}{}",
                                    host_port(login), said.empty() ? "" : "; it said: ", said),
                        Step::kReach};
}

// The master's end is the session's.
asio::awaitable<void> Master::watch() {
  const auto self = shared_from_this();
  constexpr auto kLook = std::chrono::seconds{60};
  while (up_ && !process_->ended) co_await process_->changed.wait(within(kLook));
  if (up_) end(how_it_went(*process_));
}

// Null when there is no session; the process has ended then.
std::shared_ptr<MuxClient> Master::client_for(std::string_view line,
                                              std::shared_ptr<Process>& process) {
  process = std::make_shared<Process>(executor_);
  if (up_) return std::make_shared<MuxClient>(executor_, process, std::string(line));
  process->finish({Ending::How::kRefused, -1, {}, "there is no session"});
  return nullptr;
}

std::shared_ptr<Process> Master::start(std::string_view line) {
  std::shared_ptr<Process> process;
  if (const auto client = client_for(line, process)) waiting_.push_back(client);
  admit();
  return process;
}

std::shared_ptr<Process> Master::start_kept(std::string_view line) {
  std::shared_ptr<Process> process;
  if (const auto client = client_for(line, process)) {
    kept_ = client;
    waiting_.push_front(client);
  }
  admit();
  return process;
}

void Master::admit() {
  const auto most = [this] { return kept_.expired() ? kMostChannels - 1 : kMostChannels; };
  while (up_ && open_.size() < most() && !waiting_.empty()) {
    const auto client = std::move(waiting_.front());
    waiting_.pop_front();
    if (!client->wanted()) continue;
    open_.push_back(client);
    // No configuration: the master has read it. Without the master, a client would connect by
    // itself: its ProxyCommand cannot.
    std::vector<std::string> words = {"ssh", "-F", "/dev/null", "-S", folder_ + "/s", "-T"};
    for (const char* option : {"ControlMaster=no", "ProxyCommand=false", "BatchMode=yes",
                               "LogLevel=ERROR", "StrictHostKeyChecking=yes"}) {
      words.insert(words.end(), {"-o", option});
    }
    words.insert(words.end(), {"--", "master"});
    asio::co_spawn(executor_, client->run(std::move(words)),
                   [weak = weak_from_this(), client](std::exception_ptr bug) {
                     rethrow_bug(bug);
                     const auto self = weak.lock();
                     if (!self) return;
                     self->open_.remove(client);
                     self->admit();
                   });
  }
}

void Master::lose(std::string why) {
  if (up_) end(why);
}

void Master::end(const std::string& why) {
  up_ = false;
  if (child_) child_->lose(why);
  const auto open = std::move(open_);
  const auto waiting = std::move(waiting_);
  open_.clear(), waiting_.clear();
  for (const auto& client : open) client->lose(why);
  for (const auto& client : waiting) client->lose(why);
  std::error_code ignored;
  if (!folder_.empty()) std::filesystem::remove_all(folder_, ignored);
  if (on_lost_) std::exchange(on_lost_, nullptr)(why);
}

void Master::close() {
  on_lost_ = nullptr;
  if (std::exchange(closed_, true)) return;
  end("the node was closed");
  process_->changed.ring();
}

}  // namespace unplug::ssh
