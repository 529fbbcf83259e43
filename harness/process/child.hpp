// A program of this machine as a started command: the local node's shells, and `ssh`.
//
// The one place that uses Boost.Process (v2). A child is the head of a session of its own: all of
// it can be killed at once, and none of it can ask at the user's terminal. It lives until its exit
// is seen, so that it is always reaped.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <memory>
#include <string>
#include <vector>

#include "process/process.hpp"

namespace unplug {

struct Program {
  enum class WhenAbandoned {
    kKill,   // all of its group: TERM, and KILL two seconds later
    kClose,  // its stdin, stdout and stderr are closed, and it ends by itself or not
  };
  std::vector<std::string> argv;  // argv[0] is an absolute path, or a name to be found in PATH
  std::string folder;             // where it starts
  WhenAbandoned when_abandoned = WhenAbandoned::kKill;
};

class Child {
 public:
  virtual ~Child() = default;
  // Its process ends as lost, and it is abandoned.
  virtual void lose(const std::string& why) = 0;
};

// Starts it for `process`, which ends as refused when that cannot be done. Whoever lets go of the
// child leaves it running as before. Ignores SIGPIPE in this process: a child that closed its stdin
// must not end us.
std::shared_ptr<Child> start_child(asio::any_io_executor executor, const Program& program,
                                   std::shared_ptr<Process> process);

// The program's file, looked for in PATH; empty when there is none.
std::string find_program(const std::string& name);

// $HOME, or "/".
std::string home_folder();

}  // namespace unplug
