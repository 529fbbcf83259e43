// A private sshd on loopback for one test: own port, keys, folder; stopped by its pid.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

#include "scenario/lab.hpp"

namespace unplug::test {

class Sshd {
 public:
  // False (with the reason) where no sshd can be run; such tests skip aloud.
  static bool available(std::string& why);

  // `extra` lines go into sshd_config, and count more than the usual ones.
  explicit Sshd(const std::string& extra = {});
  ~Sshd();
  Sshd(const Sshd&) = delete;
  Sshd& operator=(const Sshd&) = delete;

  void start();
  void stop();                     // the listener; its children live on
  void kill_children(int signal);  // the sessions: sshd's own children
  std::vector<pid_t> session_pids() const;
  void new_host_key();
  void only_host_key(const std::string& name);  // this key file of the folder, from now on

  // A node of a lab file: pinned to the key that it had at the start.
  scenario::LabNode node() const;
  std::string file(const std::string& name) const { return (folder_ / name).string(); }
  std::string known_hosts() const { return file("known_hosts"); }
  int port() const { return port_; }

 private:
  void read_pin();

  std::filesystem::path folder_;
  int port_ = 0;
  pid_t pid_ = -1;
  std::string pin_;
};

// Runs a program to its end; its stdout. Throws when it fails.
std::string run_program(const std::vector<std::string>& argv);

}  // namespace unplug::test
