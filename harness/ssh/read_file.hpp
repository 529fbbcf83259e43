// A small file's bytes; empty when it cannot be read.
#pragma once

#include <fstream>
#include <sstream>
#include <string>

namespace unplug::ssh {

inline std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

}  // namespace unplug::ssh
