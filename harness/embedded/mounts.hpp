// Mounts of the lab, one function a kind. All throw Error with the path when the kernel refuses.
#pragma once

#include <string>

#include "embedded/process.hpp"

namespace unplug::embedded {

void make_folder(const std::string& path, mode_t mode = 0755);  // with its parents

// A detached copy of the mounts below `path`, as they are now; invalid when there is nothing.
Fd copy_of_mounts(const std::string& path);
// Puts it at `path`, where a folder or an empty file is made as it needs.
void attach(const Fd& copy, const std::string& path);

// A bind mount.
void show_at(const std::string& from, const std::string& to);
void private_mounts();
void read_only(const std::string& path, bool with_all_below);
void mount_tmpfs(const std::string& path, const std::string& options);

// /proc of this pid namespace: processes are ours, and what belongs to the whole machine is
// read-only, except the network's settings, which belong to the network namespace.
void mount_proc(const std::string& path);
void mount_sys(const std::string& path);
// A /dev with nothing of the machine in it but null, zero, random, tty, fuse and tun.
void mount_dev(const std::string& path);

}  // namespace unplug::embedded
