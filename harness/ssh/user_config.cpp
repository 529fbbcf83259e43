#include "ssh/user_config.hpp"

#include <charconv>
#include <sstream>

namespace unplug::ssh {
namespace {

std::string in_home(const std::string& path, const std::string& home) {
  return path.starts_with("~/") ? home + path.substr(1) : path;
}

// Several paths on one line. `ssh -G` quotes none, so one that holds a blank cannot be told.
void add_paths(std::istringstream& words, const std::string& home,
               std::vector<std::string>& paths) {
  for (std::string word; words >> word;) {
    if (word != "none") paths.push_back(in_home(word, home));
  }
}

std::string rest_of(std::istringstream& words) {
  std::string rest;
  std::getline(words >> std::ws, rest);
  return rest == "none" ? "" : rest;
}

// IdentityAgent's own words: SSH_AUTH_SOCK is what an empty agent means here.
std::string agent_of(std::istringstream& words, const std::string& home) {
  std::string agent;
  std::getline(words >> std::ws, agent);
  return agent == "SSH_AUTH_SOCK" ? "" : in_home(agent, home);
}

void read_line(const std::string& line, const std::string& home, UserConfig& config) {
  std::istringstream words(line);
  std::string key;
  words >> key;
  if (key == "hostname") config.hostname = rest_of(words);
  if (key == "user") config.user = rest_of(words);
  if (key == "port") {
    const std::string port = rest_of(words);
    std::from_chars(port.data(), port.data() + port.size(), config.port);
  }
  if (key == "identityfile") {
    const std::string path = rest_of(words);  // one a line
    if (!path.empty()) config.identities.push_back(in_home(path, home));
  }
  if (key == "certificatefile") config.certificates.push_back(in_home(rest_of(words), home));
  if (key == "identityagent") config.agent = agent_of(words, home);
  if (key == "userknownhostsfile") add_paths(words, home, config.known_hosts);
  if (key == "globalknownhostsfile") add_paths(words, home, config.also_known);
  if (key == "proxyjump") config.proxy_jump = rest_of(words);
  if (key == "proxycommand") config.proxy_command = rest_of(words);
  if (key == "hostkeyalias") config.host_key_alias = rest_of(words);
  if (key == "knownhostscommand") config.known_hosts_command = rest_of(words);
  if (key == "pkcs11provider") config.pkcs11_provider = rest_of(words);
}

}  // namespace

UserConfig parse_user_config(std::string_view text, const std::string& home) {
  UserConfig config;
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) read_line(line, home, config);
  return config;
}

}  // namespace unplug::ssh
