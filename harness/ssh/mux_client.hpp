// One command through a control master: an `ssh` child whose output is framed.
//
//      reader <--- process <--- frames <--- raw <--- ssh -S SOCKET (a child) <---> master
//
// A coroutine moves bytes between the two processes; the child passes no signals on and reports 255
// for all sorts of things, so only our own end mark is believed.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "process/child.hpp"
#include "process/frame.hpp"

namespace unplug::ssh {

class MuxClient : public std::enable_shared_from_this<MuxClient> {
 public:
  MuxClient(asio::any_io_executor executor, std::shared_ptr<Process> process, std::string line);

  // Somebody still waits for it.
  bool wanted() const { return !process_->abandoned && !process_->ended; }

  // `words` is ssh and its options; the command is added. Ends when the child has ended.
  asio::awaitable<void> run(std::vector<std::string> words);

  // The session is gone.
  void lose(const std::string& why);

 private:
  void move();
  bool take_output();
  void look_for_the_end();
  Ending without_mark() const;

  asio::any_io_executor executor_;
  std::shared_ptr<Process> process_;  // as its reader sees it
  std::shared_ptr<Process> raw_;      // as ssh speaks
  std::string line_, nonce_;
  Frame out_, err_;
};

}  // namespace unplug::ssh
