#include <fmt/format.h>

#include <csignal>
#include <exception>

#include "base/error.hpp"
#include "cli/commands.hpp"

int main(int argc, char** argv) {
  // A reader of ours that goes away is an error of that write, not the end of the program.
  std::signal(SIGPIPE, SIG_IGN);
  try {
    return unplug::cli::parse_and_run(argc, argv);
  } catch (const unplug::Error& error) {
    fmt::print(stderr, "unplug: {}\n", error.what());
    return static_cast<int>(error.exit());
  } catch (const std::exception& error) {
    fmt::print(stderr, "unplug: internal error: {}; please report it with the run's folder\n",
               error.what());
    return static_cast<int>(unplug::Exit::kInternal);
  }
}
