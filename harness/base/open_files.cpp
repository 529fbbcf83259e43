#include "base/open_files.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <cerrno>
#include <cstring>

#include "base/error.hpp"

namespace unplug {
namespace {

// Journals, captured files, pipes of local commands, the event loop: about 30 at most are open
// at once (a run on the embedded lab); macOS begins with a limit of 256.
constexpr std::size_t kBesidesNodes = 128;

}  // namespace

void need_open_files(std::size_t count) {
  rlimit now{};
  if (::getrlimit(RLIMIT_NOFILE, &now) != 0 || now.rlim_cur >= count) return;
  const rlim_t most = now.rlim_max;
  int trouble = ERANGE;
  if (most == RLIM_INFINITY || most >= count) {
    now.rlim_cur = count;
    trouble = ::setrlimit(RLIMIT_NOFILE, &now) == 0 ? 0 : errno;
  }
  if (trouble == 0) return;
  throw Error(Exit::kInconclusive, "this process",
              trouble == ERANGE
                  ? fmt::format("needs {} open files, and its hard limit is {}", count, most)
                  : fmt::format("needs {} open files: {}", count, std::strerror(trouble)),
              fmt::format("allow more: `ulimit -Hn {}` as root, or a line in "
                          "/etc/security/limits.conf; or use a lab of fewer nodes",
                          count));
}

void need_open_files_for(std::size_t nodes) { need_open_files(nodes + kBesidesNodes); }

}  // namespace unplug
