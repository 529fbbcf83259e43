#include "node/outcome.hpp"

#include <fmt/format.h>

namespace unplug::node {

std::string Outcome::text() const {
  switch (end) {
    case End::kExited:
      return fmt::format("exited {}", status);
    case End::kSignalled:
      return "killed by " + signal;
    case End::kLost:
      return "lost: " + why;
    case End::kTimedOut:
      return why.empty() ? "timed out" : "timed out: " + why;
    case End::kRefused:
      return "refused: " + why;
  }
  return {};
}

}  // namespace unplug::node
