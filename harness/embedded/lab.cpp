// The outermost process: checks, clones the lab's first process, waits for it.
//
//     unplug lab (host's namespaces)
//       └─ controller: pid 1 of the lab (user, pid, mount, net, uts, ipc, cgroup)
//            ├─ the command
//            ├─ node1: pid 1 of its own namespaces ── sshd, ...
//            └─ node2: ...
#include "embedded/lab.hpp"

#include "base/error.hpp"

#ifdef __linux__
#include <sched.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "embedded/blueprint.hpp"
#include "embedded/controller.hpp"
#include "embedded/preconditions.hpp"
#include "embedded/process.hpp"
#include "embedded/user_map.hpp"

namespace unplug::embedded {
namespace {

// Signals are taken one by one with sigwaitinfo while the lab lives.
class HeldSignals {
 public:
  HeldSignals() {
    sigemptyset(&held_);
    for (const int one : {SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT}) sigaddset(&held_, one);
    child_ = signal(SIGCHLD, SIG_DFL);  // ignored, there would be no status to wait for
    sigprocmask(SIG_BLOCK, &held_, &before_);
  }
  ~HeldSignals() {
    sigprocmask(SIG_SETMASK, &before_, nullptr);
    signal(SIGCHLD, child_);
  }
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;

  siginfo_t next() const {
    siginfo_t info{};
    while (sigwaitinfo(&held_, &info) < 0) {
    }
    return info;
  }

 private:
  sigset_t held_{}, before_{};
  sighandler_t child_ = SIG_DFL;
};

// An interactive shell makes its own process group the terminal's foreground; afterwards it
// must be ours again, or the user's shell finds us stopped.
class Foreground {
 public:
  Foreground() : ours_(tcgetpgrp(STDIN_FILENO) == getpgrp()) {}
  ~Foreground() {
    if (!ours_) return;
    const auto before = signal(SIGTTOU, SIG_IGN);
    tcsetpgrp(STDIN_FILENO, getpgrp());
    signal(SIGTTOU, before);
  }
  Foreground(const Foreground&) = delete;
  Foreground& operator=(const Foreground&) = delete;

 private:
  bool ours_;
};

constexpr int kUserNamespace = CLONE_NEWUSER;

pid_t start_controller(const Plans& plans, const Options& options, Fd& ours, Fd& theirs) {
  const pid_t pid = clone_into(kUserNamespace | node_namespaces(), [&] {
    ours.reset();  // or we would never see that the other end is gone
    return run_controller(plans, options.command, std::move(theirs));
  });
  return static_cast<pid_t>(
      checked(pid, "make namespaces",
              "in a container this needs --privileged; a virtual machine always can"));
}

void let_go_on(pid_t controller, const Fd& ours) {
  try {
    write_user_map(controller);
  } catch (...) {
    kill(controller, SIGKILL);
    waitpid(controller, nullptr, 0);
    throw;
  }
  checked(send(ours.get(), "g", 1, MSG_NOSIGNAL), "start the lab's first process");
}

int wait_and_forward(pid_t controller, const HeldSignals& signals) {
  for (;;) {
    const siginfo_t info = signals.next();
    int status = 0;
    if (info.si_signo == SIGCHLD) {
      if (waitpid(controller, &status, WNOHANG) == controller) return status;
    } else if (info.si_code != SI_KERNEL) {
      // The terminal's own (SI_KERNEL) went to the whole foreground group already.
      kill(controller, info.si_signo);
    }
  }
}

void throw_what_it_said(const Fd& ours, int status) {
  char text[4096];
  const ssize_t n = recv(ours.get(), text, sizeof text, MSG_DONTWAIT);
  if (n > 0) throw Error(Exit::kInconclusive, {}, std::string(text, static_cast<std::size_t>(n)));
  if (WIFSIGNALED(status)) {
    throw Error(Exit::kInconclusive, "embedded lab",
                "its first process was killed by signal " + std::to_string(WTERMSIG(status)),
                "nothing of the lab is left; start it again");
  }
}

void say_what_is_lacking() {
  if (fuse_opens()) return;
  setenv("UNPLUG_LAB_LACKS", "fuse", 1);  // the command skips what needs it
  std::fprintf(stderr,
               "unplug lab: /dev/fuse cannot be opened, so there are no shared folders (sshfs); "
               "as root: modprobe fuse && chmod 666 /dev/fuse\n");
}

}  // namespace

int run_lab(const Options& options) {
  require_preconditions();
  say_what_is_lacking();
  Plans plans;
  plans.lab = blueprint(options.nodes, options.fault_lease);
  plans.view = plan_view(options.command, options.writable);
  const HeldSignals signals;
  const Foreground foreground;
  auto [ours, theirs] = socket_pair();
  const pid_t controller = start_controller(plans, options, ours, theirs);
  theirs.reset();
  let_go_on(controller, ours);
  const int status = wait_and_forward(controller, signals);
  throw_what_it_said(ours, status);
  return shell_status(status);
}

}  // namespace unplug::embedded

#else

namespace unplug::embedded {

int run_lab(const Options&) {
  throw Error(Exit::kInconclusive, "embedded lab", "it is made of Linux namespaces",
              "here, use --lab FILE with hosts of your own, or run unplug in a Linux machine");
}

}  // namespace unplug::embedded
#endif
