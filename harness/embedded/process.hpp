// Processes and file descriptors, as the lab needs them: clone, run a program, own an fd.
//
// Single-threaded on purpose: a cloned child goes on with all of this program's memory, which
// is only sound when no other thread held a lock at that moment.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace unplug::embedded {

class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Fd() { reset(); }
  void reset();
  int release() { return std::exchange(fd_, -1); }
  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

// A connected pair of close-on-exec stream sockets; EOF on one means that the other's owner died.
std::pair<Fd, Fd> socket_pair();

// The sentence for errno after a call that failed; throws Error(kInconclusive).
[[noreturn]] void fail(const std::string& what, const std::string& hint = {});
long checked(long result, const std::string& what, const std::string& hint = {});

std::string read_file(const std::string& path);  // "" when it cannot be read
void write_file(const std::string& path, const std::string& text, mode_t mode = 0644);
bool exists(const std::string& path);

// fork() with namespaces: runs `body` in the child, which then exits with its result.
pid_t clone_into(int namespaces, const std::function<int()>& body);

struct Finished {
  int status = 0;  // 128 + n after signal n
  std::string output;
  bool ok() const { return status == 0; }
};

// A program from the PATH, fed `input`, with stdout and stderr read to the end. Signals unblocked.
Finished run_program(const std::vector<std::string>& argv, const std::string& input = {});

// The same, but a failure is an Error with the program's own words.
std::string must_run(const std::vector<std::string>& argv, const std::string& input = {});

// Starts a program in the background, with nothing on its stdin and its output in `log`.
pid_t start_program(const std::vector<std::string>& argv, const std::string& log);

// In a child: undoes the signal mask and replaces it by the program; exits 127 if that fails.
[[noreturn]] void become(const std::vector<std::string>& argv);

// Status of waitpid as a shell shows it.
int shell_status(int wait_status);

}  // namespace unplug::embedded
