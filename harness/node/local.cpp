#include "node/local.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <boost/asio.hpp>
#include <boost/process/v2.hpp>
#include <cerrno>
#include <cstdlib>
#include <list>

#include "node/resident.hpp"
#include "node/talk.hpp"
#include "node/ustar.hpp"

namespace unplug::node {
namespace {

namespace bp = boost::process::v2;
using asio::posix::stream_descriptor;
using boost::system::error_code;

constexpr std::size_t kBlock = 65'536;

// What may still be in a pipe when its writer is gone: 64 KiB on Linux and darwin. The bound is
// for a child in the background that writes on and on.
constexpr std::size_t kMostAfterExit = 1u << 20;

// Between asking a group of processes to go and making it.
constexpr auto kPolite = std::chrono::seconds{2};

struct PipeEnds {
  int read = -1, write = -1;
};

// Made by hand: Boost.Process's own pipes have no async_wait, and only with that are no bytes
// under way in a handler when the child's exit is seen.
PipeEnds make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
  for (const int end : ends) ::fcntl(end, F_SETFD, FD_CLOEXEC);
  return {ends[0], ends[1]};
}

// In the child before exec: a process group of its own, so that all of it can be killed, and
// default signals (we ignore SIGPIPE, which a child would inherit).
struct OwnGroup {
  error_code on_exec_setup(bp::posix::default_launcher&, const bp::filesystem::path&,
                           const char* const*) const {
    ::setpgid(0, 0);
    for (int number = 1; number < NSIG; ++number) ::signal(number, SIG_DFL);
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    return {};
  }
};

std::string home() {
  const char* path = std::getenv("HOME");
  return path == nullptr ? "/" : path;
}

std::string signal_name(int number) {
  // glibc's sigabbrev_np is not on darwin; these are what scripts send and kernels raise.
  switch (number) {
    case SIGHUP:
      return "HUP";
    case SIGINT:
      return "INT";
    case SIGQUIT:
      return "QUIT";
    case SIGILL:
      return "ILL";
    case SIGABRT:
      return "ABRT";
    case SIGBUS:
      return "BUS";
    case SIGFPE:
      return "FPE";
    case SIGKILL:
      return "KILL";
    case SIGUSR1:
      return "USR1";
    case SIGSEGV:
      return "SEGV";
    case SIGUSR2:
      return "USR2";
    case SIGPIPE:
      return "PIPE";
    case SIGALRM:
      return "ALRM";
    case SIGTERM:
      return "TERM";
    default:
      return std::to_string(number);
  }
}

enum class WhenAbandoned { kKill, kClose };

// One child. Alive until its exit is seen, so that it is always reaped.
class Child : public std::enable_shared_from_this<Child> {
 public:
  Child(asio::any_io_executor executor, std::shared_ptr<Process> process, WhenAbandoned abandoned)
      : executor_(executor),
        process_(std::move(process)),
        when_abandoned_(abandoned),
        in_(executor),
        out_(executor),
        err_(executor),
        patience_(executor) {}

  // SAFETY: Boost.Process would kill a child that still runs (and wait for it): a guard that
  // became one must outlive us. Test: Contract.AStreamThatIsClosedSeesEofAndIsNotKilled.
  ~Child() {
    if (child_) child_->detach();
  }

  void begin(const std::string& line);
  void lose(const std::string& why);

 private:
  void spawn(const std::string& line);
  void schedule();
  void pump();
  void write();
  bool read(stream_descriptor& from, Output& to, std::size_t most);
  void wait_for(stream_descriptor& pipe, stream_descriptor::wait_type what, bool& waiting);
  void abandon();
  void exited(error_code error);

  asio::any_io_executor executor_;
  std::shared_ptr<Process> process_;
  WhenAbandoned when_abandoned_;
  std::optional<bp::process> child_;
  stream_descriptor in_, out_, err_;
  bool waiting_in_ = false, waiting_out_ = false, waiting_err_ = false;
  std::string sending_;
  std::size_t sent_ = 0;
  asio::steady_timer patience_;
  bool scheduled_ = false, let_go_ = false;
};

void Child::begin(const std::string& line) {
  try {
    spawn(line);
  } catch (const std::exception& failed) {
    process_->finish({Ending::How::kRefused, -1, {}, std::string("no process: ") + failed.what()});
    return;
  }
  process_->begun = true;
  process_->on_touch = [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->schedule();
  };
  child_->async_wait([self = shared_from_this()](error_code error, int) { self->exited(error); });
  schedule();
}

// Boost.Process runs the event loop's fork hooks, which wait for a name lookup under way: a
// dead name server can hold a spawn for its own timeout.
void Child::spawn(const std::string& line) {
  const PipeEnds in = make_pipe(), out = make_pipe(), err = make_pipe();
  in_.assign(in.write), out_.assign(out.read), err_.assign(err.read);
  for (stream_descriptor* pipe : {&in_, &out_, &err_}) pipe->non_blocking(true);
  error_code error;
  bp::posix::default_launcher launcher;
  const std::vector<std::string> arguments{"-c", line};
  child_.emplace(launcher(executor_, error, "/bin/sh", arguments,
                          bp::process_stdio{in.read, out.write, err.write},
                          bp::process_start_dir(home()), OwnGroup{}));
  for (const int theirs : {in.read, out.write, err.write}) ::close(theirs);
  if (!error) return;
  child_.reset();
  throw boost::system::system_error(error);
}

void Child::schedule() {
  if (std::exchange(scheduled_, true)) return;
  asio::post(executor_, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->pump();
  });
}

void Child::pump() {
  scheduled_ = false;
  if (process_->ended) return;
  if (process_->abandoned) return abandon();
  write();
  // A block at a time, then the others' turn.
  if (!process_->out.full() && out_.is_open() && read(out_, process_->out, kBlock)) {
    wait_for(out_, stream_descriptor::wait_read, waiting_out_);
  }
  if (err_.is_open() && read(err_, process_->err, kBlock)) {
    wait_for(err_, stream_descriptor::wait_read, waiting_err_);
  }
}

void Child::write() {
  while (in_.is_open()) {
    if (sent_ == sending_.size()) sending_ = process_->take_input(kBlock), sent_ = 0;
    if (sending_.empty()) {
      if (process_->input_ended) in_.close();
      return;
    }
    error_code error;
    sent_ += in_.write_some(asio::buffer(sending_.data() + sent_, sending_.size() - sent_), error);
    if (error == asio::error::would_block) {
      return wait_for(in_, stream_descriptor::wait_write, waiting_in_);
    }
    if (error) {  // it closed its stdin; what it makes of that, its status tells
      in_.close();
      process_->drop_input();
    }
    process_->changed.ring();
  }
  process_->drop_input();
}

// True when more may come.
bool Child::read(stream_descriptor& from, Output& to, std::size_t most) {
  static std::array<char, kBlock> block;
  for (std::size_t got = 0; got < most;) {
    error_code error;
    const std::size_t size = from.read_some(asio::buffer(block), error);
    if (error == asio::error::would_block) return true;
    if (error) {
      from.close();
      return false;
    }
    to.add({block.data(), size});
    got += size;
    process_->changed.ring();
  }
  return true;
}

void Child::wait_for(stream_descriptor& pipe, stream_descriptor::wait_type what, bool& waiting) {
  if (std::exchange(waiting, true)) return;
  pipe.async_wait(what, [weak = weak_from_this(), &waiting](error_code aborted) {
    const auto self = weak.lock();
    if (!self) return;
    waiting = false;
    if (!aborted) self->pump();
  });
}

void Child::abandon() {
  if (std::exchange(let_go_, true)) return;
  in_.close(), out_.close(), err_.close();
  if (when_abandoned_ == WhenAbandoned::kClose || !child_) return;
  ::kill(-child_->id(), SIGTERM);
  patience_.expires_after(kPolite);
  patience_.async_wait([weak = weak_from_this()](error_code cancelled) {
    const auto self = weak.lock();
    if (!cancelled && self && self->child_) ::kill(-self->child_->id(), SIGKILL);
  });
}

void Child::exited(error_code error) {
  const int status = error ? 0 : child_->native_exit_code();
  child_->detach();
  child_.reset();
  patience_.cancel();
  if (out_.is_open()) read(out_, process_->out, kMostAfterExit);
  if (err_.is_open()) read(err_, process_->err, kMostAfterExit);
  in_.close(), out_.close(), err_.close();
  process_->drop_input();
  if (error) {
    process_->finish({Ending::How::kLost, -1, {}, "its exit was not seen: " + error.message()});
  } else if (WIFSIGNALED(status)) {
    process_->finish({Ending::How::kSignalled, -1, signal_name(WTERMSIG(status)), {}});
  } else {
    process_->finish({Ending::How::kExited, WEXITSTATUS(status), {}, {}});
  }
}

void Child::lose(const std::string& why) {
  process_->finish({Ending::How::kLost, -1, {}, why});
  abandon();
}

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
    const auto child = std::make_shared<Child>(executor_, process, abandoned);
    child->begin(line);
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
  ::signal(SIGPIPE, SIG_IGN);
  return std::make_unique<LocalNode>(std::make_shared<Core>(std::move(executor), std::move(name)));
}

}  // namespace unplug::node
