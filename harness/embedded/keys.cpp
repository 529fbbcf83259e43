#include "embedded/keys.hpp"
#ifdef __linux__

#include <sys/wait.h>

#include <vector>

#include "base/error.hpp"
#include "embedded/mounts.hpp"
#include "embedded/process.hpp"

namespace unplug::embedded {
namespace {

// ssh-keygen says "The key fingerprint is:\nSHA256:... comment".
std::string fingerprint_in(const std::string& output) {
  const auto start = output.find("SHA256:");
  if (start == std::string::npos) {
    throw Error(Exit::kInconclusive, "embedded lab", "ssh-keygen made no key: " + output);
  }
  return output.substr(start, output.find_first_of(" \n", start) - start);
}

Key read_key(const std::string& path) {
  const std::string open = read_file(path + ".pub");
  // "ssh-ed25519 AAAA... comment": the first two words.
  const std::string words = open.substr(0, open.find_first_of(" \n", open.find(' ') + 1));
  return {read_file(path), words, fingerprint_in(read_file(path + ".said"))};
}

}  // namespace

Keys make_keys(const std::string& folder, std::size_t hosts) {
  make_folder(folder, 0700);
  std::vector<pid_t> makers;
  for (std::size_t i = 0; i <= hosts; ++i) {
    const std::string path = folder + "/" + std::to_string(i);
    makers.push_back(start_program(
        {"ssh-keygen", "-t", "ed25519", "-N", "", "-C", "lab", "-f", path}, path + ".said"));
  }
  for (const pid_t maker : makers) waitpid(maker, nullptr, 0);
  Keys keys;
  keys.user = read_key(folder + "/0");
  for (std::size_t i = 1; i <= hosts; ++i) {
    keys.hosts.push_back(read_key(folder + "/" + std::to_string(i)));
  }
  return keys;
}

}  // namespace unplug::embedded
#endif  // __linux__
