#include "embedded/lab.hpp"

#include "cli/bring_lab.hpp"
#include "cli/commands.hpp"

namespace unplug::cli {

int lab(const LabCommand& command) {
  embedded::Options options;
  options.nodes = embedded::nodes_of(command.name);
  options.command = command.command;
  options.writable = writable_folders(command.out);
  return embedded::run_lab(options);
}

}  // namespace unplug::cli
