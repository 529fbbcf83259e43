#include "embedded/mounts.hpp"
#ifdef __linux__

#include <dirent.h>
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cctype>
#include <cerrno>
#include <memory>
#include <vector>

namespace unplug::embedded {
namespace {

constexpr unsigned long kPlain = MS_NOSUID | MS_NODEV | MS_NOEXEC;

void mount_new(const char* type, const std::string& path, unsigned long flags,
               const std::string& options = {}) {
  checked(mount(type, path.c_str(), type, flags, options.c_str()),
          std::string("mount ") + type + " on " + path);
}

void change_read_only(const std::string& path, bool with_all_below, bool on) {
  struct mount_attr change {};
  (on ? change.attr_set : change.attr_clr) = MOUNT_ATTR_RDONLY;
  checked(mount_setattr(AT_FDCWD, path.c_str(), with_all_below ? AT_RECURSIVE : 0, &change,
                        sizeof change),
          "make " + path + (on ? " read-only" : " writable"));
}

bool is_number(const std::string& name) {
  return std::isdigit(static_cast<unsigned char>(name[0]));
}

// Folders of /proc, and files that somebody may write, that are not a process's own.
std::vector<std::string> machine_wide(const std::string& proc) {
  std::vector<std::string> found;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(opendir(proc.c_str()), closedir);
  while (const dirent* entry = folder ? readdir(folder.get()) : nullptr) {
    const std::string name = entry->d_name;
    struct stat info {};
    if (name[0] == '.' || is_number(name) || lstat((proc + "/" + name).c_str(), &info) != 0)
      continue;
    if (S_ISDIR(info.st_mode) || (S_ISREG(info.st_mode) && (info.st_mode & 0222) != 0)) {
      found.push_back(proc + "/" + name);
    }
  }
  return found;
}

void make_file(const std::string& path) {
  if (exists(path)) return;
  const Fd file(open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
  if (!file) fail("make " + path);
}

std::string parent(const std::string& path) { return path.substr(0, path.rfind('/')); }

}  // namespace

void make_folder(const std::string& path, mode_t mode) {
  if (path.empty() || exists(path)) return;
  make_folder(parent(path));
  if (mkdir(path.c_str(), mode) != 0 && errno != EEXIST) fail("make folder " + path);
  chmod(path.c_str(), mode);
}

Fd copy_of_mounts(const std::string& path) {
  // Always with all below: a part without its submounts would show what they hide (EINVAL).
  return Fd(open_tree(AT_FDCWD, path.c_str(), OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE));
}

void attach(const Fd& copy, const std::string& path) {
  struct stat info {};
  checked(fstat(copy.get(), &info), "look at what goes to " + path);
  make_folder(S_ISDIR(info.st_mode) ? path : parent(path));
  if (!S_ISDIR(info.st_mode)) make_file(path);
  checked(move_mount(copy.get(), "", AT_FDCWD, path.c_str(), MOVE_MOUNT_F_EMPTY_PATH),
          "bind " + path);
}

void show_at(const std::string& from, const std::string& to) {
  const Fd copy = copy_of_mounts(from);
  if (!copy) fail("bind " + from);
  attach(copy, to);
}

void private_mounts() {
  checked(mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr), "make mounts private");
}

void read_only(const std::string& path, bool with_all_below) {
  change_read_only(path, with_all_below, true);
}

void mount_tmpfs(const std::string& path, const std::string& options) {
  make_folder(path);
  mount_new("tmpfs", path, MS_NOSUID | MS_NODEV, options);
}

void mount_proc(const std::string& path) {
  mount_new("proc", path, kPlain);
  // SAFETY: root of the host is still root for files of /proc, and many of them ask for no
  // more: without this a test could trigger sysrq or change vm settings of the machine.
  for (const std::string& entry : machine_wide(path)) {
    show_at(entry, entry);
    read_only(entry, false);
  }
  show_at(path + "/sys/net", path + "/sys/net");
  change_read_only(path + "/sys/net", false, false);
}

void mount_sys(const std::string& path) { mount_new("sysfs", path, kPlain | MS_RDONLY); }

void mount_dev(const std::string& path) {
  std::vector<std::pair<std::string, Fd>> devices;
  for (const char* name : {"null", "zero", "full", "random", "urandom", "tty", "fuse", "net/tun"}) {
    devices.emplace_back(name, copy_of_mounts(std::string("/dev/") + name));
  }
  // SAFETY: a device node needs no writable mount to be written; disks and clocks of the
  // machine must not be there at all.
  mount_new("tmpfs", path, MS_NOSUID | MS_NOEXEC, "mode=755,size=64k");
  for (const auto& [name, device] : devices) {
    if (device) attach(device, path + "/" + name);
  }
  mount_tmpfs(path + "/shm", "mode=1777,size=64m");
  make_folder(path + "/pts");
  mount_new("devpts", path + "/pts", MS_NOSUID | MS_NOEXEC,
            "newinstance,ptmxmode=0666,mode=620,gid=5");
  for (const auto& [target, name] :
       std::initializer_list<std::pair<const char*, const char*>>{{"pts/ptmx", "ptmx"},
                                                                  {"/proc/self/fd", "fd"},
                                                                  {"/proc/self/fd/0", "stdin"},
                                                                  {"/proc/self/fd/1", "stdout"},
                                                                  {"/proc/self/fd/2", "stderr"}}) {
    checked(symlink(target, (path + "/" + name).c_str()), "make " + path + "/" + name);
  }
}

}  // namespace unplug::embedded
#endif  // __linux__
