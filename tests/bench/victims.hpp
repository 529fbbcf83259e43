// Processes to be killed: each notes the time at which SIGTERM came to it, and ends.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace unplug::bench {

class Victims {
 public:
  explicit Victims(std::size_t count);
  ~Victims();  // ends those that live
  Victims(const Victims&) = delete;
  Victims& operator=(const Victims&) = delete;

  pid_t pid(std::size_t i) const { return pids_[i]; }
  // A line of procs/PID, as sh/rank.sh writes it.
  std::string record(std::size_t i) const;
  // BootClock, ns; 0 while it lives.
  std::int64_t hit(std::size_t i) const { return hits_[i]; }
  // Who fired may hear of it before the victim has run: up to a second.
  void wait_for_hit(std::size_t i) const;

 private:
  std::size_t count_;
  volatile std::int64_t* hits_;  // shared with the victims
  std::vector<pid_t> pids_;
};

}  // namespace unplug::bench
