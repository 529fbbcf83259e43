#include "ssh/route.hpp"

#include <fmt/format.h>
#include <libssh2.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "process/child.hpp"
#include "ssh/complaint.hpp"
#include "ssh/master.hpp"
#include "ssh/read_file.hpp"
#include "ssh/session.hpp"

namespace unplug::ssh {
namespace {

using scenario::LabNode;
using scenario::SshBy;

// `ssh -G` reads files and runs `Match exec` lines; more than that is a hang.
constexpr auto kLookUp = std::chrono::seconds{5};

// OpenSSH reads them in this home, whatever HOME says.
const passwd* account() { return ::getpwuid(::getuid()); }
std::string account_home() { return account() != nullptr ? account()->pw_dir : home_folder(); }
std::string account_name() { return account() != nullptr ? account()->pw_name : "root"; }

// What OpenSSH does by itself, where there is none.
UserConfig plain_config(const LabNode& node) {
  UserConfig config;
  const std::string folder = account_home() + "/.ssh/";
  config.hostname = node.address;
  config.user = account_name();
  for (const char* name : {"id_rsa", "id_ecdsa", "id_ed25519"}) {
    config.identities.push_back(folder + name);
  }
  config.known_hosts.push_back(folder + "known_hosts");
  return config;
}

std::vector<UserKey> existing_keys(const std::vector<std::string>& paths) {
  std::vector<UserKey> keys;
  for (const std::string& path : paths) {
    const KeyFile file = describe_key(read_file(path));
    if (file.type != KeyFile::Type::kNoKey) keys.push_back({path, file});
  }
  return keys;
}

std::string quoted(const std::string& path) { return "\"" + path + "\""; }

}  // namespace

std::vector<std::string> stated_words(const LabNode& node, const std::string& known_hosts) {
  std::vector<std::string> words;
  const auto add = [&words](std::initializer_list<std::string> more) {
    words.insert(words.end(), more);
  };
  if (!node.ssh_config.empty()) add({"-F", node.ssh_config});
  if (node.port) add({"-p", std::to_string(*node.port)});
  if (!node.user.empty()) add({"-l", node.user});
  if (!node.identity.empty()) add({"-i", node.identity, "-o", "IdentitiesOnly=yes"});
  if (!known_hosts.empty()) {
    add({"-o", "UserKnownHostsFile=" + quoted(known_hosts), "-o", "GlobalKnownHostsFile=none"});
  }
  add({"--", node.address});
  return words;
}

Route route_of(const LabNode& node, const std::string& known_hosts, const UserConfig& config) {
  Route route;
  Login& login = route.login;
  login.address = config.hostname.empty() ? node.address : config.hostname;
  login.port = node.port.value_or(config.port);
  login.user = node.user.empty() ? config.user : node.user;
  login.identity = node.identity;
  login.host_key = node.host_key;
  login.known_hosts = known_hosts;
  if (known_hosts.empty() && !config.known_hosts.empty()) {
    login.known_hosts = config.known_hosts.front();
    login.also_known.assign(config.known_hosts.begin() + 1, config.known_hosts.end());
    login.also_known.insert(login.also_known.end(), config.also_known.begin(),
                            config.also_known.end());
  }
  login.agent = config.agent;
  login.words = stated_words(node, known_hosts);

  const std::string version = libssh2_version(0);
  const std::vector<UserKey> keys =
      existing_keys(node.identity.empty() ? config.identities : std::vector{node.identity});
  if (node.identity.empty()) {
    for (const UserKey& key : keys) {
      if (can_use(key.file.type, version)) login.keys.push_back(key.path);
    }
  }
  UserConfig asked = config;
  if (!node.identity.empty()) asked.identities = {};  // the lab file's own, and no other
  route.choice = choose_transport(node.ssh_by, asked, keys, version);
  route.may_change = node.ssh_by == SshBy::kAuto && route.choice.transport == Transport::kLibssh2;
  return route;
}

asio::awaitable<Route> find_route(asio::any_io_executor executor, LabNode node,
                                  std::string known_hosts, Deadline deadline) {
  if (find_program("ssh").empty()) {
    Route route = route_of(node, known_hosts, plain_config(node));
    route.may_change = false;
    route.choice.because = "there is no ssh program here, and no OpenSSH configuration was read";
    if (route.choice.transport == Transport::kSsh) {
      route.trouble = node.address + ": there is no ssh program in PATH; install OpenSSH's client";
    }
    co_return route;
  }
  std::vector<std::string> words = {"ssh", "-G"};
  for (std::string& word : stated_words(node, known_hosts)) words.push_back(std::move(word));
  const auto process = std::make_shared<Process>(executor);
  const Held held(process);
  const Program ssh{std::move(words), home_folder(), Program::WhenAbandoned::kKill};
  const auto child = start_child(executor, ssh, process);
  process->end_input();
  const Deadline until = std::min<Deadline>(deadline, within(kLookUp));
  while (!process->ended && BootClock::now() < until) co_await process->changed.wait(until);

  const bool read = process->ended && process->ended->status == 0;
  const UserConfig config = parse_user_config(process->out.bytes, account_home());
  Route route = route_of(node, known_hosts, read ? config : plain_config(node));
  if (!process->ended) {
    route.trouble = fmt::format(
        "{}: `ssh -G {}` did not end within {} s: see what its Match exec "
        "lines wait for",
        node.address, node.address, kLookUp.count());
  } else if (!read) {
    route.trouble = complaint(process->err.bytes, route.login).why;
  }
  co_return route;
}

void change_to_ssh(Route& route, LoginResult::Step step) {
  const std::string because =
      step == LoginResult::Step::kAlgorithms
          ? fmt::format("libssh2 {} has no algorithm in common with the server", libssh2_version(0))
          : fmt::format("libssh2 {} cannot use all of the user's keys", libssh2_version(0));
  route.choice = {Transport::kSsh, because, false};
  route.may_change = false;
}

std::shared_ptr<Connection> make_connection(Transport transport, asio::any_io_executor executor,
                                            std::function<void(std::string)> on_lost) {
  if (transport == Transport::kSsh) return Master::make(std::move(executor), std::move(on_lost));
  return Session::make(std::move(executor), std::move(on_lost));
}

}  // namespace unplug::ssh
