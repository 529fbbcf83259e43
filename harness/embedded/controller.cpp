#include "embedded/controller.hpp"
#ifdef __linux__

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>

#include "base/error.hpp"
#include "embedded/keys.hpp"
#include "embedded/mounts.hpp"
#include "embedded/network.hpp"
#include "embedded/own_files.hpp"
#include "embedded/preconditions.hpp"
#include "embedded/user_map.hpp"

namespace unplug::embedded {
namespace {

struct Node {
  pid_t pid;
  Fd link;
};

const std::string& lab_file() {
  static const std::string kFile = std::string(kLabFolder) + "/lab.json";
  return kFile;
}

// False when the outer process died before it could let us go on.
bool let_go_on(const Fd& outside) {
  char byte = 0;
  if (read(outside.get(), &byte, 1) != 1) return false;
  become_root_inside();
  // SAFETY: only now, as the change of user above would clear it. Killing the outermost process
  // takes the lab down; tests/e2e/lab_leaves_nothing.test.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  // It may have died in between; then nobody would ever send that signal.
  pollfd still_there{outside.get(), 0, 0};
  return poll(&still_there, 1, 0) == 0;
}

bool sshd_counts_failed_clients() {
  int major = 0, minor = 0;
  const std::string version = run_program({"ssh", "-V"}).output;
  if (std::sscanf(version.c_str(), "OpenSSH_%d.%d", &major, &minor) != 2) return false;
  return major > 9 || (major == 9 && minor >= 8);
}

std::vector<Node> start_nodes(const Plans& plans) {
  std::vector<Node> nodes;
  for (std::size_t site = 0; site < plans.lab.sites.size(); ++site) {
    auto ends = socket_pair();  // ours, theirs
    const pid_t pid = clone_into(node_namespaces(),
                                 [&] { return run_node(plans, site, std::move(ends.second)); });
    checked(pid, "make the namespaces of " + plans.lab.sites[site].name);
    nodes.push_back({pid, std::move(ends.first)});
  }
  return nodes;
}

void connect_nodes(const Plans& plans, const std::vector<Node>& nodes) {
  std::vector<pid_t> pids;
  for (const Node& node : nodes) pids.push_back(node.pid);
  build_network(plans.lab, pids);
  for (const Node& node : nodes)
    checked(send(node.link.get(), "g", 1, MSG_NOSIGNAL), "a node died");
}

void wait_until_ready(const std::vector<Node>& nodes) {
  for (const Node& node : nodes) {
    char text[2048];
    const ssize_t n = read(node.link.get(), text, sizeof text);
    const std::string said(text, n > 0 ? static_cast<std::size_t>(n) : 0);
    if (said != "ready") {
      throw Error(Exit::kInconclusive, "embedded lab",
                  said.empty() ? "a node died while it was set up" : said);
    }
  }
}

void own_files(const Plans& plans) {
  own_accounts(plans.lab, kHome);
  fill_home(plans.lab, plans.keys, kHome);
  write_file(std::string(kHome) + "/.bashrc", "PS1='controller:\\w\\$ '\n");
  write_file(lab_file(), lab_json(plans.lab, plans.keys));
}

std::vector<Node> build(Plans& plans) {
  prctl(PR_SET_NAME, "controller");
  setenv("PATH", search_path().c_str(), 1);
  checked(sethostname("controller", 10), "sethostname");
  enter_view(plans.view);
  make_folder(kLabFolder);
  plans.sshd = find_program("sshd");
  plans.sshd_counts_failed_clients = sshd_counts_failed_clients();
  plans.keys = make_keys(std::string(kLabFolder) + "/keys", plans.lab.sites.size());
  std::vector<Node> nodes = start_nodes(plans);
  connect_nodes(plans, nodes);  // while the nodes set up their file trees
  own_files(plans);
  wait_until_ready(nodes);
  return nodes;
}

void command_environment() {
  // The baseline cache is the user's own, and stays where it is; see Options::writable.
  if (const char* home = getenv("HOME"); home != nullptr) {
    setenv("XDG_CACHE_HOME", (std::string(home) + "/.cache").c_str(), 0);
  }
  // The user's agent, desktop and settings are no part of the lab.
  for (const char* name : {"SSH_AUTH_SOCK", "XDG_RUNTIME_DIR", "XDG_CONFIG_HOME",
                           "DBUS_SESSION_BUS_ADDRESS", "TMPDIR"}) {
    unsetenv(name);
  }
  setenv("UNPLUG_LAB", lab_file().c_str(), 1);
  setenv("HOME", kHome, 1);
  setenv("HOSTNAME", "controller", 1);
  setenv("USER", "root", 1);
  setenv("LOGNAME", "root", 1);
}

void greet(const Plans& plans) {
  std::printf(
      "This is the %s lab; you are its controller.\n"
      "  ssh node1         a node (node1 to node%zu), as root\n"
      "  $UNPLUG_LAB       its lab file, %s\n"
      "  exit              ends the lab; nothing of it stays\n",
      plans.lab.lab.c_str(), plans.lab.sites.size(), lab_file().c_str());
}

pid_t start_command(const Plans& plans, const std::vector<std::string>& command) {
  if (command.empty()) greet(plans);
  std::fflush(nullptr);
  const pid_t pid = static_cast<pid_t>(checked(fork(), "fork"));
  if (pid != 0) return pid;
  command_environment();
  if (chdir(plans.view.cwd.c_str()) != 0) {
    std::fprintf(stderr, "unplug lab: %s is not there inside; starting in /\n",
                 plans.view.cwd.c_str());
  }
  become(command.empty() ? std::vector<std::string>{login_shell()} : command);
}

void say_if_node(const Plans& plans, const std::vector<Node>& nodes, pid_t pid, int wait_status) {
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].pid != pid) continue;
    std::fprintf(stderr, "unplug lab: %s is gone: its first process ended with status %d\n",
                 plans.lab.sites[i].name.c_str(), shell_status(wait_status));
  }
}

// The command's status, once it has ended.
int live(const Plans& plans, const std::vector<Node>& nodes, pid_t command, int signals) {
  for (;;) {
    signalfd_siginfo one{};
    if (read(signals, &one, sizeof one) != sizeof one) continue;
    const int signal = static_cast<int>(one.ssi_signo);
    // From the terminal (SI_KERNEL) the command has it already.
    if (signal != SIGCHLD && one.ssi_code != SI_KERNEL) kill(command, signal);
    int status = 0;
    for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;) {
      if (pid == command) return shell_status(status);
      say_if_node(plans, nodes, pid, status);
    }
  }
}

}  // namespace

int run_controller(Plans plans, const std::vector<std::string>& command, Fd outside) {
  signal(SIGPIPE, SIG_IGN);
  sigset_t watched;
  sigemptyset(&watched);
  for (const int one : {SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT}) sigaddset(&watched, one);
  sigprocmask(SIG_SETMASK, &watched, nullptr);
  try {
    if (!let_go_on(outside)) return 0;
    const Fd signals(signalfd(-1, &watched, SFD_CLOEXEC));
    const std::vector<Node> nodes = build(plans);
    return live(plans, nodes, start_command(plans, command), signals.get());
  } catch (const std::exception& error) {
    const std::string text = error.what();
    [[maybe_unused]] const ssize_t n = send(outside.get(), text.data(), text.size(), MSG_NOSIGNAL);
    return 70;
  }
}

}  // namespace unplug::embedded
#endif  // __linux__
