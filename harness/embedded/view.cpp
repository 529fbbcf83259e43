#include "embedded/view.hpp"
#ifdef __linux__

#include <dirent.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <set>

#include "base/error.hpp"
#include "embedded/mounts.hpp"
#include "embedded/visible.hpp"

namespace unplug::embedded {
namespace {

namespace fs = std::filesystem;

// Where the new root is put together. Any folder would do that the lab hides anyway.
constexpr char kNewRoot[] = "/tmp";

bool in_hidden(const std::string& path) {
  return std::ranges::any_of(kHidden, [&](const auto& folder) { return is_below(path, folder); });
}

bool is_folder_or_file(const std::string& path) {
  struct stat info {};
  return stat(path.c_str(), &info) == 0 && (S_ISDIR(info.st_mode) || S_ISREG(info.st_mode));
}

std::string source_root() {
  if (const char* root = std::getenv("UNPLUG_ROOT"); root != nullptr && *root != '\0') return root;
  return fs::is_directory(UNPLUG_SOURCE_ROOT) ? UNPLUG_SOURCE_ROOT : std::string();
}

// Host folders and what stays of them, in the order in which they must be put back.
using Copies = std::vector<std::pair<std::string, Fd>>;

Copies copies_of(const std::vector<std::string>& paths) {
  Copies copies;
  for (const std::string& path : paths) {
    Fd copy = copy_of_mounts(path);
    if (!copy) fail("keep " + path + " visible");
    copies.emplace_back(path, std::move(copy));
  }
  return copies;
}

void put_back(const Copies& copies, const std::string& root) {
  for (const auto& [path, copy] : copies) attach(copy, root + path);
}

bool is_ours(const std::string& top_level) {
  static const std::set<std::string> kOurs = {"/tmp", "/run", "/mnt", "/proc", "/sys", "/dev"};
  return kOurs.contains(top_level);
}

// The host's top-level folders, symbolic links and files; what cannot be copied is left out.
Copies top_level() {
  Copies copies;
  for (const auto& entry : fs::directory_iterator("/")) {
    const std::string path = entry.path().string();
    if (is_ours(path)) continue;
    if (entry.is_symlink() || is_folder_or_file(path)) {
      copies.emplace_back(path, entry.is_symlink() ? Fd() : copy_of_mounts(path));
    }
  }
  return copies;
}

void put_top_level(const Copies& copies) {
  for (const auto& [path, copy] : copies) {
    const std::string here = kNewRoot + path;
    std::error_code ignored;
    if (copy) {
      attach(copy, here);
    } else if (const auto target = fs::read_symlink(path, ignored); !ignored) {
      fs::create_symlink(target, here, ignored);
    }
  }
}

void mount_own_folders(const std::string& root) {
  mount_tmpfs(root + "/tmp", "mode=1777,size=256m");
  mount_tmpfs(root + "/run", "mode=755,size=64m");
  mount_tmpfs(root + "/mnt", "mode=755,size=1m");
}

void pivot() {
  checked(chdir(kNewRoot), "enter the new root");
  checked(syscall(SYS_pivot_root, ".", "."), "pivot_root");
  checked(umount2(".", MNT_DETACH), "leave the host's root");
  checked(chdir("/"), "enter the new root");
}

}  // namespace

View plan_view(const std::vector<std::string>& command, const std::vector<std::string>& writable) {
  View view;
  view.cwd = fs::current_path().string();
  view.program = fs::read_symlink("/proc/self/exe").parent_path().string();
  view.source_root = source_root();
  std::set<std::string> visible;
  for (const auto& path : {view.cwd, view.program, view.source_root}) {
    if (in_hidden(path)) visible.insert(path);
  }
  std::vector<std::string> texts = command;
  for (char** variable = environ; *variable != nullptr; ++variable) texts.emplace_back(*variable);
  for (const std::string& text : texts) {
    visible.merge(mentioned(text, "/tmp"));
    visible.merge(mentioned(text, "/mnt"));
  }
  // One that is just a hidden folder itself (cwd is /tmp) would bring all of it back.
  std::erase_if(visible, [](const std::string& path) {
    return std::ranges::find(kHidden, path) != kHidden.end() || !is_folder_or_file(path);
  });
  view.visible = outermost(visible);
  for (const std::string& folder : writable) {
    fs::create_directories(folder);
    view.writable.push_back(fs::canonical(folder).string());
  }
  std::ranges::sort(view.writable);
  return view;
}

void enter_view(const View& view) {
  private_mounts();
  const Copies writable = copies_of(view.writable);  // while they still can be written
  // SAFETY: nothing of the host can be written from here on, except the folders above.
  read_only("/", true);
  const Copies visible = copies_of(view.visible);
  const Copies host = top_level();
  mount_tmpfs(kNewRoot, "mode=755,size=1m");
  put_top_level(host);
  mount_own_folders(kNewRoot);
  for (const char* folder : {"/proc", "/sys", "/dev", "/root", "/scratch"}) {
    make_folder(std::string(kNewRoot) + folder);
  }
  mount_proc(std::string(kNewRoot) + "/proc");
  mount_sys(std::string(kNewRoot) + "/sys");
  mount_dev(std::string(kNewRoot) + "/dev");
  put_back(visible, kNewRoot);
  put_back(writable, kNewRoot);
  read_only(kNewRoot, false);
  pivot();
}

void enter_node_view(const View& view) {
  // SAFETY: the folders that stay writable are the controller's; a node has its own disks.
  read_only("/", true);
  std::set<std::string> needed;
  for (const auto& path : {view.program, view.source_root}) {
    if (in_hidden(path) || is_below(path, "/root") || is_below(path, "/scratch")) {
      needed.insert(path);
    }
  }
  const Copies kept = copies_of(outermost(needed));
  mount_own_folders("");
  mount_tmpfs("/root", "mode=700,size=32m");
  mount_tmpfs("/scratch", "mode=755,size=64m");
  put_back(kept, "");
  mount_proc("/proc");
  mount_sys("/sys");
  mount_dev("/dev");
}

}  // namespace unplug::embedded
#endif  // __linux__
