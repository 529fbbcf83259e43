#include "embedded/process.hpp"
#ifdef __linux__

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <fstream>
#include <sstream>

#include "base/error.hpp"

namespace unplug::embedded {

void Fd::reset() {
  if (fd_ >= 0) close(std::exchange(fd_, -1));
}

std::pair<Fd, Fd> socket_pair() {
  int ends[2];
  checked(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), "socketpair");
  return {Fd(ends[0]), Fd(ends[1])};
}

void fail(const std::string& what, const std::string& hint) {
  throw Error(Exit::kInconclusive, "embedded lab", what + ": " + std::strerror(errno), hint);
}

long checked(long result, const std::string& what, const std::string& hint) {
  if (result < 0) fail(what, hint);
  return result;
}

std::string read_file(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

void write_file(const std::string& path, const std::string& text, mode_t mode) {
  const Fd file(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode));
  if (!file) fail("write " + path);
  fchmod(file.get(), mode);  // whatever the umask is
  if (write(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
    fail("write " + path);
  }
}

bool exists(const std::string& path) {
  struct stat unused {};
  return lstat(path.c_str(), &unused) == 0;
}

pid_t clone_into(int namespaces, const std::function<int()>& body) {
  // The raw call, as fork() takes no namespaces and clone(3) wants a stack of its own.
  // Nothing buffered may be written twice.
  std::fflush(nullptr);
  const long pid = syscall(SYS_clone, namespaces | SIGCHLD, 0, 0, 0, 0);
  if (pid == 0) {
    int status = 70;
    try {
      status = body();
    } catch (const std::exception& error) {
      std::fprintf(stderr, "unplug: %s\n", error.what());
    }
    std::fflush(nullptr);
    _exit(status);
  }
  return static_cast<pid_t>(pid);
}

void become(const std::vector<std::string>& argv) {
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  signal(SIGPIPE, SIG_DFL);
  std::vector<char*> words;
  for (const std::string& word : argv) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  execvp(words[0], words.data());
  std::fprintf(stderr, "unplug: %s: %s\n", words[0], std::strerror(errno));
  _exit(127);
}

int shell_status(int wait_status) {
  return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

namespace {

// Input in memory rather than in a pipe: no size is too big, and no SIGPIPE can come.
Fd memory_file(const std::string& text) {
  Fd file(static_cast<int>(checked(memfd_create("input", MFD_CLOEXEC), "memfd_create")));
  checked(write(file.get(), text.data(), text.size()), "write to memory");
  lseek(file.get(), 0, SEEK_SET);
  return file;
}

std::string read_to_end(int fd) {
  std::string text;
  char block[4096];
  for (;;) {
    const ssize_t n = read(fd, block, sizeof block);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return text;
    text.append(block, static_cast<std::size_t>(n));
  }
}

int wait_for(pid_t pid) {
  int status = 0;
  while (waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) fail("wait for a program");
  }
  return shell_status(status);
}

}  // namespace

Finished run_program(const std::vector<std::string>& argv, const std::string& input) {
  const Fd in = memory_file(input);
  auto [ours, theirs] = socket_pair();
  const pid_t pid = static_cast<pid_t>(checked(fork(), "fork"));
  if (pid == 0) {
    dup2(in.get(), 0);
    dup2(theirs.get(), 1);
    dup2(theirs.get(), 2);
    become(argv);
  }
  theirs.reset();
  Finished result;
  result.output = read_to_end(ours.get());
  result.status = wait_for(pid);
  return result;
}

std::string must_run(const std::vector<std::string>& argv, const std::string& input) {
  Finished result = run_program(argv, input);
  if (!result.ok()) {
    throw Error(Exit::kInconclusive, "embedded lab",
                argv[0] + " ended with status " + std::to_string(result.status) + ": " +
                    result.output.substr(0, 500));
  }
  return std::move(result.output);
}

pid_t start_program(const std::vector<std::string>& argv, const std::string& log) {
  const pid_t pid = static_cast<pid_t>(checked(fork(), "fork"));
  if (pid == 0) {
    dup2(open("/dev/null", O_RDONLY), 0);
    dup2(open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644), 1);
    dup2(1, 2);
    become(argv);
  }
  return pid;
}

}  // namespace unplug::embedded
#endif  // __linux__
