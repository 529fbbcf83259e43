#include "node/fake.hpp"

#include <boost/asio/post.hpp>

#include "node/talk.hpp"

namespace unplug::node {

void FakeRun::out(std::string_view bytes) {
  if (over()) return;
  process_->out.add(bytes);
  process_->changed.ring();
}

void FakeRun::err(std::string_view bytes) {
  if (over()) return;
  process_->err.add(bytes);
  process_->changed.ring();
}

void FakeRun::exit(int status) { process_->finish({Ending::How::kExited, status, {}, {}}); }

void FakeRun::killed(std::string signal) {
  process_->finish({Ending::How::kSignalled, -1, std::move(signal), {}});
}

void FakeRun::lose(const std::string& why) { process_->finish({Ending::How::kLost, -1, {}, why}); }

void FakeRun::take_input() {
  partial_ += process_->take_input(std::string::npos);
  process_->changed.ring();
  for (std::size_t feed = 0; (feed = partial_.find('\n')) != std::string::npos;) {
    const std::string line = partial_.substr(0, feed);
    partial_.erase(0, feed + 1);
    if (on_line && !over()) on_line(line);
  }
  if ((process_->input_ended || process_->abandoned) && !std::exchange(eof_told_, true)) {
    if (on_eof && !over()) on_eof();
  }
}

struct FakeNode::Core : std::enable_shared_from_this<Core> {
  Core(asio::any_io_executor on, std::string called)
      : executor(on), name(std::move(called)), changed(on) {}

  std::shared_ptr<Process> start(FakeCall call) {
    auto process = std::make_shared<Process>(executor);
    calls.push_back(call);
    if (!up) {
      process->finish({Ending::How::kRefused, -1, {}, "no session: " + why_down});
      return process;
    }
    process->begun = true;
    FakeRun& run = *runs.emplace_back(std::make_unique<FakeRun>(std::move(call), process));
    // Posted, as a real transport answers later: a script never runs inside its caller.
    const auto later = [weak = weak_from_this(), executor = executor](auto work) {
      asio::post(executor, [weak, work] {
        if (weak.lock()) work();
      });
    };
    process->on_touch = [later, &run] { later([&run] { run.take_input(); }); };
    later([script = script_for(run.call.line), &run] {
      script(run);
      run.take_input();
    });
    return process;
  }

  Script script_for(const std::string& line) const {
    for (auto at = scripts.rbegin(); at != scripts.rend(); ++at) {
      if (line.starts_with(at->first)) return at->second;
    }
    return [](FakeRun& run) {
      run.err("no reply is scripted for: " + run.call.line + "\n");
      run.exit(127);
    };
  }

  void tell(Session session, const std::string& why) {
    const auto now_listening = listeners;
    for (const auto& listener : now_listening) listener({session, why});
  }

  void go_down(const std::string& why) {
    up = false;
    why_down = why;
    for (const auto& run : runs) run->lose(why);
    changed.ring();
  }

  asio::any_io_executor executor;
  std::string name;
  Way way{"fake", "this is a test", "nowhere", Way::Step::kNone};
  Bell changed;
  std::vector<std::pair<std::string, Script>> scripts;
  std::deque<std::unique_ptr<FakeRun>> runs;
  std::vector<FakeCall> calls;
  std::vector<SessionListener> listeners;
  std::string refusal, why_down = "not connected yet";
  bool up = false, closed = false, asking = false;
};

namespace {

template <class Core>
asio::awaitable<Outcome> connect_on(std::shared_ptr<Core> core) {
  if (!core->refusal.empty()) co_return refused(core->refusal);
  core->up = true;
  core->changed.ring();
  core->tell(Session::kConnected, {});
  co_return to_outcome({Ending::How::kExited, 0, {}, {}});
}

template <class Core>
asio::awaitable<bool> connected_on(std::shared_ptr<Core> core, Deadline deadline) {
  while (!core->up && !core->closed && BootClock::now() < deadline) {
    co_await core->changed.wait(deadline);
  }
  co_return core->up;
}

template <class Core>
asio::awaitable<Outcome> exec_on(std::shared_ptr<Core> core, Command command, Deadline deadline) {
  FakeCall call{FakeCall::How::kExec, command.line, command.input, {}};
  auto process = core->start(std::move(call));
  co_return co_await run_to_end(std::move(process), std::move(command), deadline);
}

template <class Core>
struct Asking {
  std::shared_ptr<Core> core;
  explicit Asking(std::shared_ptr<Core> of) : core(std::move(of)) { core->asking = true; }
  ~Asking() {
    core->asking = false;
    core->changed.ring();
  }
  Asking(const Asking&) = delete;
  Asking& operator=(const Asking&) = delete;
};

template <class Core>
asio::awaitable<Outcome> ask_on(std::shared_ptr<Core> core, std::string line, Deadline deadline) {
  while (core->asking && BootClock::now() < deadline) co_await core->changed.wait(deadline);
  if (core->asking) {
    Outcome late;
    late.end = Outcome::End::kTimedOut;
    co_return late;
  }
  const Asking<Core> asking(core);
  FakeCall call{FakeCall::How::kAsk, line, {}, {}};
  auto process = core->start(std::move(call));
  Command no_input("");
  co_return co_await run_to_end(std::move(process), std::move(no_input), deadline);
}

template <class Core>
asio::awaitable<Opened> open_on(std::shared_ptr<Core> core, std::string line, Deadline deadline) {
  FakeCall call{FakeCall::How::kOpen, std::move(line), {}, {}};
  auto process = core->start(std::move(call));
  co_return co_await open_stream(std::move(process), deadline);
}

template <class Core>
asio::awaitable<Outcome> upload_on(std::shared_ptr<Core> core, std::vector<File> files,
                                   std::string folder) {
  if (!core->up) co_return refused("no session: " + core->why_down);
  core->calls.push_back({FakeCall::How::kUpload, std::move(folder), {}, std::move(files)});
  co_return to_outcome({Ending::How::kExited, 0, {}, {}});
}

}  // namespace

FakeNode::FakeNode(asio::any_io_executor executor, std::string name)
    : core_(std::make_shared<Core>(std::move(executor), std::move(name))) {}

FakeNode::~FakeNode() { close(); }

void FakeNode::on(std::string prefix, Script script) {
  core_->scripts.emplace_back(std::move(prefix), std::move(script));
}

void FakeNode::reply(std::string prefix, FakeReply reply) {
  on(std::move(prefix), [reply = std::move(reply)](FakeRun& run) {
    run.out(reply.out);
    run.err(reply.err);
    run.exit(reply.status);
  });
}

void FakeNode::refuse_connection(std::string why) { core_->refusal = std::move(why); }

void FakeNode::lose(const std::string& why) {
  if (!core_->up) return;
  core_->go_down(why);
  core_->tell(Session::kLost, why);
}

void FakeNode::come_back() {
  if (core_->up || core_->closed) return;
  core_->up = true;
  core_->changed.ring();
  core_->tell(Session::kReconnected, {});
}

const std::vector<FakeCall>& FakeNode::calls() const { return core_->calls; }

std::vector<std::string> FakeNode::lines() const {
  std::vector<std::string> all;
  for (const FakeCall& call : core_->calls) all.push_back(call.line);
  return all;
}

const std::string& FakeNode::name() const { return core_->name; }
const Way& FakeNode::way() const { return core_->way; }
asio::awaitable<Outcome> FakeNode::connect(Deadline) { return connect_on(core_); }
asio::awaitable<Outcome> FakeNode::exec(Command command, Deadline deadline) {
  return exec_on(core_, std::move(command), deadline);
}
asio::awaitable<Outcome> FakeNode::ask(std::string line, Deadline deadline) {
  return ask_on(core_, std::move(line), deadline);
}
asio::awaitable<Opened> FakeNode::open(std::string line, Deadline deadline) {
  return open_on(core_, std::move(line), deadline);
}
asio::awaitable<Outcome> FakeNode::upload(std::vector<File> files, std::string folder, Deadline) {
  return upload_on(core_, std::move(files), std::move(folder));
}
asio::awaitable<bool> FakeNode::connected(Deadline deadline) {
  return connected_on(core_, deadline);
}
void FakeNode::on_session(SessionListener listener) {
  core_->listeners.push_back(std::move(listener));
}
void FakeNode::close() {
  if (std::exchange(core_->closed, true)) return;
  core_->go_down("the node was closed");
}

}  // namespace unplug::node
