// The rows that need sshds, one at a time: bench.py runs them in turns with those of ssh and clush.
//
//   ssh_bench serve FOLDER COUNT            sshds until stdin ends; says "ready"
//   ssh_bench connect ours|pump FOLDER COUNT
//   ssh_bench talk FOLDER ROUNDS
//   ssh_bench fire ours|pump FOLDER COUNT ROUNDS
#include <csignal>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include "bench/rows.hpp"
#include "bench/servers.hpp"

namespace unplug::bench {
namespace {

using Words = std::vector<std::string>;

Json serve(const std::string& folder, int count) {
  const Servers servers(count);
  servers.write_files(folder);
  std::cout << "ready" << std::endl;
  for (std::string line; std::getline(std::cin, line);) {
  }
  return {{"served", count}};
}

Json row(const Words& words) {
  const std::string what = words.at(0);
  if (what == "serve") return serve(words.at(1), std::stoi(words.at(2)));
  if (what == "talk") return talk(words.at(1), std::stoi(words.at(2)));
  const bool ours = words.at(1) == "ours";
  const std::size_t count = std::stoul(words.at(3));
  if (what == "connect") {
    return ours ? connect_ours(words.at(2), count) : connect_pump(words.at(2), count);
  }
  const int rounds = std::stoi(words.at(4));
  return ours ? fire_ours(words.at(2), count, rounds) : fire_bare(words.at(2), count, rounds);
}

}  // namespace
}  // namespace unplug::bench

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  try {
    const unplug::bench::Words words(argv + 1, argv + argc);
    std::cout << unplug::bench::row(words).dump() << std::endl;
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "ssh_bench: " << error.what() << "\n";
    return 1;
  }
}
