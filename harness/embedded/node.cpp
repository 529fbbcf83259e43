#include "embedded/node.hpp"
#ifdef __linux__

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <sstream>

#include "base/error.hpp"
#include "embedded/mounts.hpp"
#include "embedded/network.hpp"
#include "embedded/own_files.hpp"
#include "embedded/rtcwake.hpp"
#include "embedded/sleep.hpp"

namespace unplug::embedded {
namespace {

constexpr char kFirmware[] = "/run/firmware";
constexpr char kSleepCount[] = "/run/unplug/sleeps";
constexpr char kSleepLog[] = "/run/unplug/sleep.log";
constexpr char kPath[] =
    "/run/unplug/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

std::string sshd_config(const Plans& plans) {
  std::string text =
      "ListenAddress 0.0.0.0\n"
      "HostKey /run/unplug/host_key\n"
      "PidFile none\n"
      "UsePAM no\n"
      "UseDNS no\n"
      "PermitRootLogin prohibit-password\n"
      "PasswordAuthentication no\n"
      "KbdInteractiveAuthentication no\n"
      "PrintMotd no\n"
      // Hundreds of sessions may start at once, and none of them may be dropped by chance. Ten
      // channels a session is what a real host has.
      "MaxStartups 2000:100:2000\n"
      "MaxSessions 10\n"
      "Subsystem sftp internal-sftp\n";
  // bash reads .bashrc when sshd starts it as the first shell; SHLVL says that it is not.
  text += std::string("SetEnv SHLVL=3 PATH=") + kPath + "\n";
  // A partition looks like a bad client to it; the refusals would outlast the fault.
  if (plans.sshd_counts_failed_clients) text += "PerSourcePenalties no\n";
  return text;
}

// Nothing of the controller's may stay open here: a node's sshd would keep it open for good.
Fd keep_only(Fd controller) {
  constexpr int kKept = 3;
  const int null = open("/dev/null", O_RDWR);
  dup2(null, STDIN_FILENO);
  dup2(null, STDOUT_FILENO);
  dup2(controller.release(), kKept);
  close_range(kKept + 1, ~0U, 0);
  fcntl(kKept, F_SETFD, FD_CLOEXEC);
  return Fd(kKept);
}

void own_environment(const View& view) {
  clearenv();
  setenv("PATH", kPath, 1);
  setenv("HOME", "/root", 1);
  if (!view.source_root.empty()) setenv("UNPLUG_ROOT", view.source_root.c_str(), 1);
}

void own_files(const Plans& plans, std::size_t site) {
  make_folder(kLabFolder);
  make_folder("/run/sshd");
  make_folder(std::string(kLabFolder) + "/bin");
  own_accounts(plans.lab, "/root");
  put_over("/etc/hostname", plans.lab.sites[site].name + "\n");
  // Nodes share a kernel but are different machines, and say so.
  put_over("/proc/sys/kernel/random/boot_id", read_file("/proc/sys/kernel/random/uuid"));
  fill_home(plans.lab, plans.keys, "/root");
  write_file("/root/.ssh/authorized_keys", plans.keys.user.open + "\n", 0600);
  write_file("/run/unplug/host_key", plans.keys.hosts[site].secret, 0600);
  write_file("/run/unplug/sshd_config", sshd_config(plans));
  write_file("/run/unplug/bin/rtcwake", kRtcwake, 0755);
  write_file(kSleepCount, "0\n");
  write_file(kSleepLog, "");
}

bool something_listens_on(int port) {
  const Fd probe(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<in_port_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return connect(probe.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
}

void start_sshd(const Plans& plans) {
  start_program({plans.sshd, "-D", "-f", "/run/unplug/sshd_config"}, "/run/unplug/sshd.log");
  for (int attempt = 0; attempt < 2500; ++attempt) {
    if (something_listens_on(22)) return;
    usleep(2000);
  }
  throw Error(Exit::kInconclusive, "embedded lab",
              "sshd does not listen: " + read_file("/run/unplug/sshd.log"));
}

// Undoes what faults of an earlier boot left; the first boot finds nothing.
void start_boot_sweep(const View& view) {
  const std::string sweep = view.source_root + "/injectors/sh/sweep.sh";
  if (!view.source_root.empty() && exists(sweep)) {
    start_program({"sh", sweep}, "/run/unplug/sweep.log");
    write_file("/root/.config/unplug/boot-sweep", "run by this node's first process\n");
  }
}

class Firmware {
 public:
  Firmware() {
    checked(mkfifo(kFirmware, 0600), "make the firmware's fifo");
    // Both ways, so that there is no EOF between two writers.
    fifo_ = Fd(open(kFirmware, O_RDWR | O_NONBLOCK | O_CLOEXEC));
  }
  int fd() const { return fifo_.get(); }
  void obey() {
    char block[256];
    const ssize_t n = read(fd(), block, sizeof block);
    std::istringstream lines(std::string(block, n > 0 ? static_cast<std::size_t>(n) : 0));
    for (std::string line; std::getline(lines, line);) {
      const auto asked = sleep_asked(line);
      if (!asked) continue;
      const auto slept = sleep_node(*asked);
      if (!slept) continue;
      // The record first: who sees the count rise finds it there.
      write_file(kSleepLog, log_ += to_line(*slept));
      write_file(kSleepCount, std::to_string(++sleeps_) + "\n");
    }
  }

 private:
  Fd fifo_;
  int sleeps_ = 0;
  std::string log_;
};

void reap() {
  while (waitpid(-1, nullptr, WNOHANG) > 0) {
  }
}

[[noreturn]] void live(Firmware& firmware, int signals) {
  pollfd waits[] = {{signals, POLLIN, 0}, {firmware.fd(), POLLIN, 0}};
  for (;;) {
    poll(waits, 2, -1);
    signalfd_siginfo one{};
    while (read(signals, &one, sizeof one) > 0) {
    }
    reap();
    if ((waits[1].revents & POLLIN) != 0) firmware.obey();
  }
}

void set_up(const Plans& plans, std::size_t site) {
  own_environment(plans.view);
  const std::string& name = plans.lab.sites[site].name;
  prctl(PR_SET_NAME, name.c_str());  // in `ps` and in a trace
  checked(sethostname(name.data(), name.size()), "sethostname");
  enter_node_view(plans.view);
  own_files(plans, site);
}

bool network_is_there(const Fd& controller) {
  char byte = 0;
  return read(controller.get(), &byte, 1) == 1;
}

void tell(const Fd& controller, const std::string& text) {
  // The controller may be gone, and then so are we in a moment: nothing to do about it.
  [[maybe_unused]] const ssize_t n = send(controller.get(), text.data(), text.size(), MSG_NOSIGNAL);
}

}  // namespace

int node_namespaces() {
  return CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWCGROUP;
}

int run_node(const Plans& plans, std::size_t site, Fd inherited) {
  setsid();  // the terminal's Ctrl-C is for the command, not for the nodes
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, nullptr);
  Fd controller = keep_only(std::move(inherited));
  try {
    set_up(plans, site);
    if (!network_is_there(controller)) return 0;
    bring_up_node(plans.lab, site);
    Firmware firmware;
    const Fd signals(signalfd(-1, &all, SFD_NONBLOCK | SFD_CLOEXEC));
    start_sshd(plans);
    start_boot_sweep(plans.view);
    tell(controller, "ready");
    live(firmware, signals.get());
  } catch (const std::exception& error) {
    tell(controller, plans.lab.sites[site].name + ": " + error.what());
    return 70;
  }
}

}  // namespace unplug::embedded
#endif  // __linux__
