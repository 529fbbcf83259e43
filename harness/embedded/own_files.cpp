#include "embedded/own_files.hpp"
#ifdef __linux__

#include "embedded/mounts.hpp"
#include "embedded/process.hpp"

namespace unplug::embedded {

void put_over(const std::string& path, const std::string& text) {
  if (!exists(path)) return;
  std::string name = path.substr(1);
  for (char& c : name) c = c == '/' ? '-' : c;
  const std::string own = std::string(kLabFolder) + "/over/" + name;
  make_folder(std::string(kLabFolder) + "/over");
  write_file(own, text);
  show_at(own, path);
}

void own_accounts(const Blueprint& lab, const std::string& home) {
  put_over("/etc/passwd", passwd_file(home, login_shell()));
  put_over("/etc/shadow", shadow_file());
  put_over("/etc/group", group_file());
  put_over("/etc/hosts", hosts_file(lab));
}

void fill_home(const Blueprint& lab, const Keys& keys, const std::string& home) {
  make_folder(home, 0700);
  make_folder(home + "/.ssh", 0700);
  write_file(home + "/.ssh/id_ed25519", keys.user.secret, 0600);
  write_file(home + "/.ssh/known_hosts", known_hosts(lab, keys));
  write_file(home + "/.ssh/config", ssh_config(), 0600);
  make_folder(home + "/.config/unplug");
  write_file(home + "/.config/unplug/lab", lab.lab + "\n");
}

std::string login_shell() { return exists("/bin/bash") ? "/bin/bash" : "/bin/sh"; }

}  // namespace unplug::embedded
#endif  // __linux__
