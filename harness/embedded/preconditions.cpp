#include "embedded/preconditions.hpp"
#ifdef __linux__

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <sstream>

#include "base/error.hpp"
#include "embedded/process.hpp"
#include "embedded/user_map.hpp"

namespace unplug::embedded {
namespace {

struct Program {
  const char* name;
  const char* package;  // on Debian and Ubuntu
  bool rootless_only;
};

constexpr Program kPrograms[] = {
    {"sshd", "openssh-server", false},
    {"ssh", "openssh-client", false},
    {"ssh-keygen", "openssh-client", false},
    {"ip", "iproute2", false},
    {"nft", "nftables", false},
    {"newuidmap", "uidmap", true},
    {"newgidmap", "uidmap", true},
};

[[noreturn]] void refuse(const std::string& what, const std::string& mend) {
  throw Error(Exit::kInconclusive, "embedded lab", what, mend);
}

void require_programs() {
  std::string missing, packages;
  for (const Program& program : kPrograms) {
    if (program.rootless_only && geteuid() == 0) continue;
    if (!find_program(program.name).empty()) continue;
    missing += std::string(missing.empty() ? "" : ", ") + program.name;
    if (packages.find(program.package) == std::string::npos) {
      packages += std::string(" ") + program.package;
    }
  }
  if (!missing.empty()) refuse("missing programs: " + missing, "apt-get install" + packages);
}

int setting(const std::string& name, int if_absent) {
  const std::string text = read_file("/proc/sys/" + name);
  return text.empty() ? if_absent : std::atoi(text.c_str());
}

void require_user_namespaces() {
  if (setting("user/max_user_namespaces", 1) == 0) {
    refuse("user namespaces are switched off", "sysctl user.max_user_namespaces=10000");
  }
  if (geteuid() == 0) return;
  if (setting("kernel/unprivileged_userns_clone", 1) == 0) {
    refuse("only root may make user namespaces here",
           "use sudo, or sysctl kernel.unprivileged_userns_clone=1");
  }
  if (setting("kernel/apparmor_restrict_unprivileged_userns", 0) == 1) {
    refuse("AppArmor keeps ordinary users from user namespaces (Ubuntu 24.04 and later)",
           "use sudo, or sysctl kernel.apparmor_restrict_unprivileged_userns=0");
  }
  require_sub_ids();
}

}  // namespace

std::string search_path() {
  const char* path = std::getenv("PATH");
  return std::string(path != nullptr && *path != '\0' ? path : "/usr/local/bin:/usr/bin:/bin") +
         ":/usr/local/sbin:/usr/sbin:/sbin";
}

std::string find_program(const std::string& name) {
  std::istringstream folders(search_path());
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::string path = folder + "/" + name;
    if (folder.starts_with('/') && access(path.c_str(), X_OK) == 0) return path;
  }
  return {};
}

void require_preconditions() {
  require_programs();
  require_user_namespaces();
}

bool fuse_opens() { return static_cast<bool>(Fd(open("/dev/fuse", O_RDWR | O_CLOEXEC))); }

}  // namespace unplug::embedded
#endif  // __linux__
