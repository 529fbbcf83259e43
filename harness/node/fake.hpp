// A node for tests: lines meet scripts instead of a shell, and calls are recorded.
//
// It is a third transport below the same exec, open and ask as the real ones (talk.hpp), so
// deadlines, truncation, streams and loss behave alike.
//
//   fake.reply("uname", {0, "Linux\n"});                            // by prefix; the last one wins
//   fake.on("sh sh/verb.sh freeze guard", [](FakeRun& run) {        // a stream
//     run.say("{\"guard\":\"armed\"}");
//     run.on_line = [&run](const std::string& line) { run.say("heard " + line); };
//   });
//   fake.lose("cable"); fake.come_back();
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "node/node.hpp"
#include "process/process.hpp"

namespace unplug::node {

struct FakeCall {
  enum class How { kExec, kAsk, kOpen, kUpload };
  How how = How::kExec;
  std::string line;  // of an upload: its folder
  std::string input;
  std::vector<File> files;
};

// One started line, for its script; valid as long as the fake is.
class FakeRun {
 public:
  FakeRun(FakeCall of, std::shared_ptr<Process> process)
      : call(std::move(of)), process_(std::move(process)) {}

  const FakeCall call;
  std::function<void(const std::string& line)> on_line;  // a line came on stdin
  std::function<void()> on_eof;                          // stdin was closed, or the reader went

  void out(std::string_view bytes);
  void err(std::string_view bytes);
  void say(const std::string& line) { out(line + "\n"); }
  void exit(int status);
  void killed(std::string signal);
  bool over() const { return process_->ended.has_value(); }

  void lose(const std::string& why);  // what the fake node calls
  void take_input();

 private:
  std::shared_ptr<Process> process_;
  std::string partial_;
  bool eof_told_ = false;
};

struct FakeReply {
  int status = 0;
  std::string out, err;
};

class FakeNode final : public Node {
 public:
  using Script = std::function<void(FakeRun&)>;

  FakeNode(asio::any_io_executor executor, std::string name);
  ~FakeNode() override;

  // A script that does nothing is a command that never ends.
  void on(std::string prefix, Script script);
  void reply(std::string prefix, FakeReply reply);
  void refuse_connection(std::string why);  // empty: let it in again
  void lose(const std::string& why);
  void come_back();
  const std::vector<FakeCall>& calls() const;
  std::vector<std::string> lines() const;  // of the calls

  const std::string& name() const override;
  const Way& way() const override;
  asio::awaitable<Outcome> connect(Deadline deadline) override;
  asio::awaitable<Outcome> exec(Command command, Deadline deadline) override;
  asio::awaitable<Outcome> ask(std::string line, Deadline deadline) override;
  asio::awaitable<Opened> open(std::string line, Deadline deadline) override;
  asio::awaitable<Outcome> upload(std::vector<File> files, std::string folder,
                                  Deadline deadline) override;
  asio::awaitable<bool> connected(Deadline deadline) override;
  void on_session(SessionListener listener) override;
  void close() override;

 private:
  struct Core;
  std::shared_ptr<Core> core_;
};

}  // namespace unplug::node
