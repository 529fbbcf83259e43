// Reads a journal back, up to its last whole line, and checks the chain.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "journal/event.hpp"

namespace unplug::journal {

struct Journal {
  std::vector<Event> events;
  bool torn = false;   // the last line is not whole: the writer died; what is before it counts
  std::string broken;  // why the chain does not hold ("line 12: ..."), or ""; events stop there
};

// Throws Error(kUsage) when the file cannot be opened.
Journal read(const std::filesystem::path& file);

}  // namespace unplug::journal
