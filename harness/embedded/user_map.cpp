#include "embedded/user_map.hpp"
#ifdef __linux__

#include <grp.h>
#include <pwd.h>
#include <unistd.h>

#include <optional>
#include <sstream>
#include <string>

#include "base/error.hpp"
#include "embedded/preconditions.hpp"
#include "embedded/process.hpp"

namespace unplug::embedded {
namespace {

// `nobody` is 65534 and must exist inside: sshd's unprivileged half has that group.
constexpr unsigned long kNeeded = 65535;

std::string user_name() {
  const passwd* entry = getpwuid(getuid());
  return entry == nullptr ? std::string() : entry->pw_name;
}

// First id of a range that is large enough: lines are NAME_OR_UID:FIRST:COUNT.
std::optional<unsigned long> first_sub_id(const std::string& file) {
  std::istringstream lines(read_file(file));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    std::string who;
    unsigned long first = 0, count = 0;
    char colon = 0;
    if (!std::getline(fields, who, ':') || !(fields >> first >> colon >> count)) continue;
    const bool ours = who == user_name() || who == std::to_string(getuid());
    if (ours && count >= kNeeded) return first;
  }
  return std::nullopt;
}

void map_sub_ids(pid_t pid, const char* program, const char* file, unsigned long own) {
  const auto first = first_sub_id(file);
  if (!first) require_sub_ids();
  must_run({find_program(program), std::to_string(pid), "0", std::to_string(own), "1", "1",
            std::to_string(*first), std::to_string(kNeeded)});
}

// Every id that exists here stays what it is (in a container that is not every id there is).
std::string identity_map(const char* own_map) {
  std::istringstream lines(read_file(own_map));
  std::string map;
  unsigned long inside = 0, outside = 0, count = 0;
  while (lines >> inside >> outside >> count) {
    map +=
        std::to_string(inside) + " " + std::to_string(inside) + " " + std::to_string(count) + "\n";
  }
  return map;
}

}  // namespace

void require_sub_ids() {
  for (const char* file : {"/etc/subuid", "/etc/subgid"}) {
    if (first_sub_id(file)) continue;
    throw Error(
        Exit::kInconclusive, "embedded lab", user_name() + " has no range of 65535 ids in " + file,
        "as root: usermod --add-subuids 100000-165535 --add-subgids 100000-165535 " + user_name());
  }
}

void write_user_map(pid_t pid) {
  if (geteuid() == 0) {
    const std::string folder = "/proc/" + std::to_string(pid);
    write_file(folder + "/uid_map", identity_map("/proc/self/uid_map"));
    write_file(folder + "/gid_map", identity_map("/proc/self/gid_map"));
    return;
  }
  map_sub_ids(pid, "newuidmap", "/etc/subuid", getuid());
  map_sub_ids(pid, "newgidmap", "/etc/subgid", getgid());
}

void become_root_inside() {
  checked(setgroups(0, nullptr), "setgroups");
  checked(setresgid(0, 0, 0), "setresgid");
  checked(setresuid(0, 0, 0), "setresuid");
}

}  // namespace unplug::embedded
#endif  // __linux__
