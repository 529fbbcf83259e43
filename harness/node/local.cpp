#include "node/local.hpp"

#include <list>
#include <utility>

#include "node/resident.hpp"
#include "node/talk.hpp"
#include "node/ustar.hpp"
#include "process/child.hpp"

namespace unplug::node {
namespace {

using WhenAbandoned = Program::WhenAbandoned;

// Everything that outlives a caller.
class Core : public std::enable_shared_from_this<Core> {
 public:
  Core(asio::any_io_executor executor, std::string called)
      : name(std::move(called)), executor_(std::move(executor)) {}

  void begin() {
    resident = std::make_shared<Resident>(executor_, [weak = weak_from_this()] {
      return weak.lock()->start("exec sh", WhenAbandoned::kKill);
    });
  }

  std::shared_ptr<Process> start(const std::string& line, WhenAbandoned abandoned) {
    auto process = std::make_shared<Process>(executor_);
    if (closed_) {
      process->finish({Ending::How::kRefused, -1, {}, "no session: the node was closed"});
      return process;
    }
    const Program shell{{"/bin/sh", "-c", line}, home_folder(), abandoned};
    const auto child = start_child(executor_, shell, process);
    children_.remove_if([](const auto& weak) { return weak.expired(); });
    children_.push_back(child);
    return process;
  }

  void stand() {
    connected = true;
    const auto now_listening = listeners;
    for (const auto& listener : now_listening) listener({Session::kConnected, {}});
  }

  void close() {
    if (std::exchange(closed_, true)) return;
    connected = false;
    for (const auto& weak : children_) {
      if (const auto child = weak.lock()) child->lose("the node was closed");
    }
    resident->drop_shell();
  }

  std::string name;
  Way way{"local", "the controller is this machine", "here", Way::Step::kNone};
  std::shared_ptr<Resident> resident;
  std::vector<SessionListener> listeners;
  bool connected = false;

 private:
  asio::any_io_executor executor_;
  std::list<std::weak_ptr<Child>> children_;
  bool closed_ = false;
};

asio::awaitable<Outcome> ask_on(std::shared_ptr<Core> core, std::string line, Deadline deadline) {
  co_return co_await core->resident->ask(std::move(line), deadline);
}

asio::awaitable<Outcome> connect_on(std::shared_ptr<Core> core, Deadline deadline) {
  Outcome outcome = co_await core->resident->ask(":", deadline);
  if (outcome.ok()) core->stand();
  co_return outcome;
}

asio::awaitable<bool> connected_on(std::shared_ptr<Core> core) { co_return core->connected; }

asio::awaitable<Outcome> exec_on(std::shared_ptr<Core> core, Command command, Deadline deadline) {
  auto process = core->start(command.line, WhenAbandoned::kKill);
  co_return co_await run_to_end(std::move(process), std::move(command), deadline);
}

asio::awaitable<Opened> open_on(std::shared_ptr<Core> core, std::string line, Deadline deadline) {
  auto process = core->start(line, WhenAbandoned::kClose);
  co_return co_await open_stream(std::move(process), deadline);
}

asio::awaitable<Outcome> upload_on(std::shared_ptr<Core> core, std::vector<File> files,
                                   std::string folder, Deadline deadline) {
  if (const auto why = unfit_for_ustar(files)) co_return refused(*why);
  Command unpack{unpack_command(folder), ustar(files)};
  co_return co_await exec_on(core, std::move(unpack), deadline);
}

class LocalNode final : public Node {
 public:
  explicit LocalNode(std::shared_ptr<Core> core) : core_(std::move(core)) { core_->begin(); }
  ~LocalNode() override { core_->close(); }

  const std::string& name() const override { return core_->name; }
  const Way& way() const override { return core_->way; }
  asio::awaitable<Outcome> connect(Deadline deadline) override {
    return connect_on(core_, deadline);
  }
  asio::awaitable<Outcome> exec(Command command, Deadline deadline) override {
    return exec_on(core_, std::move(command), deadline);
  }
  asio::awaitable<Outcome> ask(std::string line, Deadline deadline) override {
    return ask_on(core_, std::move(line), deadline);
  }
  asio::awaitable<Opened> open(std::string line, Deadline deadline) override {
    return open_on(core_, std::move(line), deadline);
  }
  asio::awaitable<Outcome> upload(std::vector<File> files, std::string folder,
                                  Deadline deadline) override {
    return upload_on(core_, std::move(files), std::move(folder), deadline);
  }
  asio::awaitable<bool> connected(Deadline) override { return connected_on(core_); }
  void on_session(SessionListener listener) override {
    core_->listeners.push_back(std::move(listener));
  }
  void close() override { core_->close(); }

 private:
  std::shared_ptr<Core> core_;
};

}  // namespace

std::unique_ptr<Node> make_local_node(asio::any_io_executor executor, std::string name) {
  return std::make_unique<LocalNode>(std::make_shared<Core>(std::move(executor), std::move(name)));
}

}  // namespace unplug::node
