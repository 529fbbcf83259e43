#include <signal.h>

#include "node/contract.hpp"
#include "node/fake.hpp"
#include "node/local.hpp"
#include "node/ssh_node.hpp"
#include "node/sshd.hpp"

namespace unplug::test {
namespace {

using node::FakeNode;
using node::FakeRun;

class FakePlace final : public Place {
 public:
  std::unique_ptr<node::Node> make(Loop& loop) override {
    auto made = std::make_unique<FakeNode>(loop.executor(), "fake");
    fake_ = made.get();
    script(*made);
    return made;
  }
  bool has_a_shell() const override { return false; }
  void lose() override { fake_->lose("the cable was pulled"); }
  void come_back() override { fake_->come_back(); }

 private:
  static void script(FakeNode& fake) {
    fake.reply("echo out; echo err >&2; exit 3", {3, "out\n", "err\n"});
    fake.reply("echo b", {0, "b\n", ""});
    fake.reply("echo one; echo two >&2", {4, "one\nthree", "two\n"});
    fake.reply("head -c 100000", {0, std::string(100'000, '\0'), ""});
    fake.on("kill -KILL $$", [](FakeRun& run) { run.killed("KILL"); });
    fake.on("sleep 30", [](FakeRun&) {});
    fake.on("cat", [](FakeRun& run) {
      run.out(run.call.input);
      run.exit(0);
    });
    fake.on("while read", [](FakeRun& run) {
      run.on_line = [&run](const std::string& line) { run.say("got " + line); };
      run.on_eof = [&run] { run.exit(0); };
    });
  }
  FakeNode* fake_ = nullptr;
};

class LocalPlace final : public Place {
 public:
  std::unique_ptr<node::Node> make(Loop& loop) override {
    return node::make_local_node(loop.executor());
  }
  bool can_lose() const override { return false; }
};

class SshPlace final : public Place {
 public:
  explicit SshPlace(scenario::SshBy by) : by_(by) {}
  std::unique_ptr<node::Node> make(Loop& loop) override {
    scenario::LabNode node = sshd_.node();
    node.ssh_by = by_;
    return node::make_ssh_node(loop.executor(), node, {});
  }
  void lose() override {
    sshd_.kill_children(SIGKILL);
    sshd_.stop();
  }
  void come_back() override { sshd_.start(); }

 private:
  scenario::SshBy by_;
  // bash takes that for a login within a login and skips its start files: 150 ms an exec.
  Sshd sshd_{"SetEnv SHLVL=3"};
};

}  // namespace

std::unique_ptr<Place> fake_place() { return std::make_unique<FakePlace>(); }
std::unique_ptr<Place> local_place() { return std::make_unique<LocalPlace>(); }
std::unique_ptr<Place> ssh_place(scenario::SshBy by, std::string& why_not) {
  if (!Sshd::available(why_not)) return nullptr;
  return std::make_unique<SshPlace>(by);
}

}  // namespace unplug::test
