#include "process/child.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <boost/asio.hpp>
#include <boost/process/v2.hpp>
#include <cerrno>
#include <cstdlib>
#include <sstream>
#include <stdexcept>

namespace unplug {
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

// In the child before exec: a session (and process group) of its own, so that all of it can be
// killed and none of it has our terminal; and default signals (we ignore SIGPIPE, which a child
// would inherit).
struct OwnSession {
  error_code on_exec_setup(bp::posix::default_launcher&, const bp::filesystem::path&,
                           const char* const*) const {
    ::setsid();
    for (int number = 1; number < NSIG; ++number) ::signal(number, SIG_DFL);
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    return {};
  }
};

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

// One child. Alive until its exit is seen, so that it is always reaped.
class BoostChild final : public Child, public std::enable_shared_from_this<BoostChild> {
 public:
  BoostChild(asio::any_io_executor executor, std::shared_ptr<Process> process,
             Program::WhenAbandoned abandoned)
      : executor_(executor),
        process_(std::move(process)),
        when_abandoned_(abandoned),
        in_(executor),
        out_(executor),
        err_(executor),
        patience_(executor) {}

  // SAFETY: Boost.Process would kill a child that still runs (and wait for it): a guard that
  // became one must outlive us. Test: Contract.AStreamThatIsClosedSeesEofAndIsNotKilled.
  ~BoostChild() override {
    if (child_) child_->detach();
  }

  void begin(const Program& program);
  void lose(const std::string& why) override;

 private:
  void spawn(const Program& program);
  void schedule();
  void pump();
  void write();
  bool read(stream_descriptor& from, Output& to, std::size_t most);
  void wait_for(stream_descriptor& pipe, stream_descriptor::wait_type what, bool& waiting);
  void abandon();
  void exited(error_code error);

  asio::any_io_executor executor_;
  std::shared_ptr<Process> process_;
  Program::WhenAbandoned when_abandoned_;
  std::optional<bp::process> child_;
  stream_descriptor in_, out_, err_;
  bool waiting_in_ = false, waiting_out_ = false, waiting_err_ = false;
  std::string sending_;
  std::size_t sent_ = 0;
  asio::steady_timer patience_;
  bool scheduled_ = false, let_go_ = false;
};

// GCC 12 takes an assignment to a vector within Boost.Process for an overflow.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Warray-bounds"
#pragma GCC diagnostic ignored "-Wstringop-overflow"
#pragma GCC diagnostic ignored "-Wrestrict"
#endif

void BoostChild::begin(const Program& program) {
  try {
    spawn(program);
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
void BoostChild::spawn(const Program& program) {
  const std::string file = find_program(program.argv.front());
  if (file.empty()) throw std::runtime_error("there is no program " + program.argv.front());
  const PipeEnds in = make_pipe(), out = make_pipe(), err = make_pipe();
  in_.assign(in.write), out_.assign(out.read), err_.assign(err.read);
  for (stream_descriptor* pipe : {&in_, &out_, &err_}) pipe->non_blocking(true);
  error_code error;
  bp::posix::default_launcher launcher;
  const std::vector<std::string> arguments(program.argv.begin() + 1, program.argv.end());
  child_.emplace(launcher(executor_, error, file, arguments,
                          bp::process_stdio{in.read, out.write, err.write},
                          bp::process_start_dir(program.folder), OwnSession{}));
  for (const int theirs : {in.read, out.write, err.write}) ::close(theirs);
  if (!error) return;
  child_.reset();
  throw boost::system::system_error(error);
}

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

void BoostChild::schedule() {
  if (std::exchange(scheduled_, true)) return;
  asio::post(executor_, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->pump();
  });
}

void BoostChild::pump() {
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

void BoostChild::write() {
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
  if (!process_->input_empty()) process_->changed.ring();
  process_->drop_input();
}

// True when more may come.
bool BoostChild::read(stream_descriptor& from, Output& to, std::size_t most) {
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

void BoostChild::wait_for(stream_descriptor& pipe, stream_descriptor::wait_type what,
                          bool& waiting) {
  if (std::exchange(waiting, true)) return;
  pipe.async_wait(what, [weak = weak_from_this(), &waiting](error_code aborted) {
    const auto self = weak.lock();
    if (!self) return;
    waiting = false;
    if (!aborted) self->pump();
  });
}

void BoostChild::abandon() {
  if (std::exchange(let_go_, true)) return;
  in_.close(), out_.close(), err_.close();
  if (when_abandoned_ == Program::WhenAbandoned::kClose || !child_) return;
  ::kill(-child_->id(), SIGTERM);
  patience_.expires_after(kPolite);
  patience_.async_wait([weak = weak_from_this()](error_code cancelled) {
    const auto self = weak.lock();
    if (!cancelled && self && self->child_) ::kill(-self->child_->id(), SIGKILL);
  });
}

void BoostChild::exited(error_code error) {
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

void BoostChild::lose(const std::string& why) {
  process_->finish({Ending::How::kLost, -1, {}, why});
  abandon();
}

}  // namespace

std::shared_ptr<Child> start_child(asio::any_io_executor executor, const Program& program,
                                   std::shared_ptr<Process> process) {
  ::signal(SIGPIPE, SIG_IGN);
  auto child =
      std::make_shared<BoostChild>(std::move(executor), std::move(process), program.when_abandoned);
  child->begin(program);
  return child;
}

std::string find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) return ::access(name.c_str(), X_OK) == 0 ? name : "";
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "/usr/bin:/bin" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::string file = folder + "/" + name;
    if (!folder.empty() && ::access(file.c_str(), X_OK) == 0) return file;
  }
  return {};
}

std::string home_folder() {
  const char* path = std::getenv("HOME");
  return path == nullptr || *path == '\0' ? "/" : path;
}

}  // namespace unplug
