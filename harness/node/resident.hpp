// The resident shell of a node: lines asked one at a time, in the order in which they came.
//
// A fresh sh costs an exec (3 ms and the login shell's start files, which can be 150 ms); a line
// to a shell that waits costs one round trip. Each line runs framed in a subshell, so `exit`,
// `cd` and syntax errors stay in it. A line that misses its deadline or is dropped costs the
// shell; the next line starts another.
#pragma once

#include <functional>
#include <list>
#include <memory>
#include <string>

#include "node/node.hpp"
#include "process/process.hpp"

namespace unplug::node {

class Resident : public std::enable_shared_from_this<Resident> {
 public:
  // `start` starts a POSIX sh that reads commands from its stdin.
  Resident(asio::any_io_executor executor, std::function<std::shared_ptr<Process>()> start);

  // Starts the shell and waits until it runs, so that a node without one is told at once.
  asio::awaitable<Outcome> begin(Deadline deadline);

  asio::awaitable<Outcome> ask(std::string line, Deadline deadline);

  // The shell, and who waits for it, belong to a session that is gone.
  void drop_shell();

 private:
  struct Place;  // in the queue
  asio::awaitable<Outcome> ask_now(std::string line, Deadline deadline);

  std::function<std::shared_ptr<Process>()> start_;
  std::shared_ptr<Process> shell_;
  std::list<const Place*> queue_;
  Bell next_;
};

}  // namespace unplug::node
