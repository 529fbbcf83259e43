#include "bench/victims.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <fstream>
#include <stdexcept>

namespace unplug::bench {
namespace {

volatile std::int64_t* mine;  // of a victim: where it notes its hit

void note_hit(int /*signal*/) {
  timespec now{};
  ::clock_gettime(CLOCK_BOOTTIME, &now);
  *mine = now.tv_sec * 1'000'000'000 + now.tv_nsec;
  ::_exit(0);
}

[[noreturn]] void be_a_victim() {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  struct sigaction act {};
  act.sa_handler = note_hit;
  ::sigaction(SIGTERM, &act, nullptr);
  for (;;) ::pause();
}

std::string start_of(pid_t pid) {
  std::ifstream stat(fmt::format("/proc/{}/stat", pid));
  std::string word;
  for (int field = 0; field < 22; ++field) stat >> word;  // our own name holds no blank
  return word;
}

}  // namespace

Victims::Victims(std::size_t count) : count_(count) {
  void* shared = ::mmap(nullptr, count * sizeof(std::int64_t), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) throw std::runtime_error("mmap");
  hits_ = static_cast<volatile std::int64_t*>(shared);
  for (std::size_t i = 0; i < count; ++i) {
    mine = hits_ + i;
    const pid_t pid = ::fork();
    if (pid == 0) be_a_victim();
    pids_.push_back(pid);
  }
}

Victims::~Victims() {
  for (const pid_t pid : pids_) ::kill(pid, SIGKILL);
  for (const pid_t pid : pids_) ::waitpid(pid, nullptr, 0);
  ::munmap(const_cast<std::int64_t*>(hits_), count_ * sizeof(std::int64_t));
}

void Victims::wait_for_hit(std::size_t i) const {
  for (int ms = 0; ms < 1000 && hit(i) == 0; ++ms) ::usleep(1000);
}

std::string Victims::record(std::size_t i) const {
  std::string boot;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  return fmt::format("worker worker-1 {} {} {}\n", pids_[i], start_of(pids_[i]), boot);
}

}  // namespace unplug::bench
