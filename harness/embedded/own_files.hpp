// Files that each host of the lab has for itself: accounts and names over those in /etc, and the
// SSH identity in root's home.
#pragma once

#include <string>

#include "embedded/inventory.hpp"

namespace unplug::embedded {

// Shows `text` at `path`, which must exist on the host; left out where it does not.
void put_over(const std::string& path, const std::string& text);

// passwd, shadow, group, hosts.
void own_accounts(const Blueprint& lab, const std::string& home);

// Key, known_hosts, config and the opt-in marker: what a node and the controller have alike.
void fill_home(const Blueprint& lab, const Keys& keys, const std::string& home);

std::string login_shell();

}  // namespace unplug::embedded
