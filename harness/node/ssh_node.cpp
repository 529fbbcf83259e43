#include "node/ssh_node.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <exception>
#include <optional>
#include <random>

#include "node/resident.hpp"
#include "node/talk.hpp"
#include "node/ustar.hpp"
#include "ssh/route.hpp"

namespace unplug::node {
namespace {

using End = Outcome::End;
using ssh::LoginResult;

// A server under MaxStartups drops early connections by chance; six tries brought 200 of 200 in.
constexpr int kMostDrops = 6;

void rethrow(std::exception_ptr bug) {
  if (bug) std::rethrow_exception(bug);
}

Outcome login_outcome(const LoginResult& result) {
  Outcome outcome;
  outcome.end = result.end == LoginResult::End::kDone       ? End::kExited
                : result.end == LoginResult::End::kTimedOut ? End::kTimedOut
                                                            : End::kRefused;
  outcome.status = result.end == LoginResult::End::kDone ? 0 : -1;
  outcome.why = result.why;
  return outcome;
}

Way::Step to_step(LoginResult::Step step) {
  switch (step) {
    case LoginResult::Step::kNone:
      return Way::Step::kNone;
    case LoginResult::Step::kConfig:
      return Way::Step::kConfig;
    case LoginResult::Step::kReach:
      return Way::Step::kReach;
    case LoginResult::Step::kAlgorithms:
      return Way::Step::kAlgorithms;
    case LoginResult::Step::kHostKey:
      return Way::Step::kHostKey;
    case LoginResult::Step::kKey:
      return Way::Step::kKey;
    case LoginResult::Step::kShell:
      return Way::Step::kShell;
  }
  return Way::Step::kNone;
}

bool better_by_ssh(const LoginResult& result, const ssh::Route& route) {
  const bool refused = result.end == LoginResult::End::kRefused;
  const bool other_keys = result.step == LoginResult::Step::kKey && route.choice.more_by_ssh;
  return refused && (result.ssh_could || other_keys);
}

// Everything that outlives a caller: the node's own coroutines and its operations share it.
class Core : public std::enable_shared_from_this<Core> {
 public:
  Core(asio::any_io_executor executor, scenario::LabNode node, std::string known_hosts,
       SshTimes times)
      : name(node.name),
        changed(executor),
        executor_(executor),
        node_(std::move(node)),
        known_hosts_(std::move(known_hosts)),
        times_(times) {}

  void begin();
  asio::awaitable<Outcome> connect(Deadline deadline);
  asio::awaitable<bool> connected(Deadline deadline);
  std::shared_ptr<Process> start(std::string_view line);
  void close();

  std::string name;
  Way way;
  std::shared_ptr<Resident> resident;
  std::vector<SessionListener> listeners;
  Bell changed;

 private:
  asio::awaitable<LoginResult> find_way(Deadline deadline);
  asio::awaitable<LoginResult> first_login(Deadline deadline);
  asio::awaitable<LoginResult> log_in(Deadline deadline);
  void take(ssh::Route route);
  asio::awaitable<void> pause(Duration time);
  asio::awaitable<void> reconnect();
  asio::awaitable<void> beat(std::shared_ptr<ssh::Connection> session);
  asio::awaitable<bool> beat_once(std::unique_ptr<Stream>& echo, ssh::Connection& session,
                                  int number);
  Duration jittered(Duration time);
  void lost(std::string why);
  void stand(Session how);
  void tell(Session session, const std::string& why);

  asio::any_io_executor executor_;
  scenario::LabNode node_;
  std::string known_hosts_;
  SshTimes times_;
  std::optional<ssh::Route> route_;
  std::shared_ptr<ssh::Connection> session_;  // null while there is none
  std::string why_down_ = "not connected yet";
  std::minstd_rand random_{std::random_device{}()};  // of the jitter only
  std::weak_ptr<ssh::Connection> logging_in_;
  bool standing_ = false;  // told as connected
  bool closed_ = false;
};

void Core::begin() {
  resident = std::make_shared<Resident>(executor_, [weak = weak_from_this()] {
    return weak.lock()->start("exec sh");  // a Resident is only used by what holds its Core
  });
}

std::shared_ptr<Process> Core::start(std::string_view line) {
  if (session_) return session_->start(line);
  auto process = std::make_shared<Process>(executor_);
  process->finish({Ending::How::kRefused, -1, {}, "no session: " + why_down_});
  return process;
}

asio::awaitable<LoginResult> Core::log_in(Deadline deadline) {
  const auto transport = route_->choice.transport;
  auto session =
      ssh::make_connection(transport, executor_, [weak = weak_from_this()](std::string why) {
        if (const auto core = weak.lock()) core->lost(std::move(why));
      });
  logging_in_ = session;
  LoginResult result = co_await session->log_in(route_->login, deadline);
  if (closed_) co_return LoginResult{LoginResult::End::kRefused, "the node was closed"};
  if (result.end == LoginResult::End::kDone) session_ = std::move(session);
  co_return result;
}

asio::awaitable<Outcome> Core::connect(Deadline deadline) {
  const auto begun = BootClock::now();
  LoginResult result = co_await find_way(deadline);
  if (result.end == LoginResult::End::kDone) result = co_await first_login(deadline);
  if (route_ && route_->may_change && better_by_ssh(result, *route_)) {
    ssh::Route by_ssh = *route_;
    ssh::change_to_ssh(by_ssh, result.step);
    take(std::move(by_ssh));
    result = co_await first_login(deadline);
  }
  way.failed = to_step(result.step);
  Outcome outcome = login_outcome(result);
  if (outcome.ok()) {
    outcome = co_await resident->begin(deadline);
    if (outcome.ok()) {
      stand(Session::kConnected);
    } else {
      outcome.why = way.place + ": no shell: " + outcome.text();
      way.failed = Way::Step::kShell;
      outcome.end = outcome.end == End::kTimedOut ? End::kTimedOut : End::kRefused;
      if (session_) std::exchange(session_, nullptr)->close();
    }
  }
  outcome.begun = begun;
  outcome.ended = BootClock::now();
  co_return outcome;
}

asio::awaitable<LoginResult> Core::find_way(Deadline deadline) {
  if (!route_) {
    ssh::Route found = co_await ssh::find_route(executor_, node_, known_hosts_, deadline);
    take(std::move(found));
  }
  if (closed_) co_return LoginResult{LoginResult::End::kRefused, "the node was closed"};
  if (route_->trouble.empty()) co_return LoginResult{LoginResult::End::kDone, {}};
  LoginResult result{LoginResult::End::kRefused, route_->trouble, LoginResult::Step::kConfig};
  route_.reset();  // another connect() may find it mended
  co_return result;
}

void Core::take(ssh::Route route) {
  const ssh::Login& login = route.login;
  way.transport = ssh::to_text(route.choice.transport);
  way.because = route.choice.because;
  way.place = fmt::format("{}@{}:{}", login.user, login.address, login.port);
  route_ = std::move(route);
}

asio::awaitable<LoginResult> Core::first_login(Deadline deadline) {
  LoginResult result{LoginResult::End::kDropped, {}};
  for (int drops = 0; result.end == LoginResult::End::kDropped && drops < kMostDrops && !closed_;
       ++drops) {
    if (drops > 0) co_await pause(jittered(times_.backoff_first * (1 << drops)));
    result = co_await log_in(deadline);
  }
  co_return result;
}

void Core::stand(Session how) {
  standing_ = true;
  tell(how, {});
  changed.ring();
  asio::co_spawn(
      executor_, [self = shared_from_this(), session = session_] { return self->beat(session); },
      rethrow);
}

void Core::tell(Session session, const std::string& why) {
  const auto now_listening = listeners;  // a listener may add another
  for (const auto& listener : now_listening) listener({session, why});
}

void Core::lost(std::string why) {
  const bool stood = std::exchange(standing_, false);
  session_ = nullptr;
  why_down_ = why;
  resident->drop_shell();
  changed.ring();
  if (!stood || closed_) return;
  tell(Session::kLost, why);
  asio::co_spawn(
      executor_, [self = shared_from_this()] { return self->reconnect(); }, rethrow);
}

asio::awaitable<void> Core::reconnect() {
  const auto self = shared_from_this();
  Duration backoff = times_.backoff_first;
  while (!closed_ && !session_) {
    co_await pause(jittered(backoff));
    backoff = std::min(backoff * 2, times_.backoff_most);
    if (closed_ || session_) co_return;
    const LoginResult result = co_await log_in(within(times_.login_within));
    if (result.end == LoginResult::End::kDone) {
      stand(Session::kReconnected);
    } else {
      why_down_ = result.why;
    }
  }
}

asio::awaitable<void> Core::beat(std::shared_ptr<ssh::Connection> session) {
  const auto self = shared_from_this();
  std::unique_ptr<Stream> echo;
  for (int number = 0; session->is_up(); ++number) {
    // Whoever calls us has just heard from it.
    const Deadline next = within(times_.heartbeat_every);
    while (session->is_up() && BootClock::now() < next) co_await changed.wait(next);
    if (!session->is_up()) co_return;
    const bool answered = co_await beat_once(echo, *session, number);
    if (!answered && session->is_up()) {
      session->lose(
          fmt::format("no answer to the heartbeat within {}", for_people(times_.heartbeat_within)));
      co_return;
    }
  }
}

// Only silence is a missed beat: an echo that ended (someone killed it) is started again, and a
// server that refuses the channel has answered.
asio::awaitable<bool> Core::beat_once(std::unique_ptr<Stream>& echo, ssh::Connection& session,
                                      int number) {
  Deadline deadline = within(times_.heartbeat_within);
  const std::string word = std::to_string(number);
  while (session.is_up() && BootClock::now() < deadline) {
    if (!echo || echo->ended()) {
      // The login shell's start files may take their time; a frozen server is seen a bit later.
      auto process = session.start_kept("while read -r beat; do echo \"$beat\"; done");
      Opened opened = co_await open_stream(std::move(process), within(times_.login_within));
      echo = std::move(opened.stream);
      if (!echo) co_return opened.outcome.end == End::kRefused;
      deadline = within(times_.heartbeat_within);
    }
    co_await echo->write_line(word, deadline);
    const auto answer = co_await echo->read_line(deadline);
    if (answer == word) co_return true;
  }
  co_return false;
}

asio::awaitable<void> Core::pause(Duration time) {
  const Deadline until = within(time);
  while (!closed_ && BootClock::now() < until) co_await changed.wait(until);
}

Duration Core::jittered(Duration time) {
  return Duration{
      std::uniform_int_distribution<Duration::rep>(time.count() / 2, time.count())(random_)};
}

asio::awaitable<bool> Core::connected(Deadline deadline) {
  while (!session_ && !closed_ && BootClock::now() < deadline) co_await changed.wait(deadline);
  co_return session_ != nullptr;
}

void Core::close() {
  if (std::exchange(closed_, true)) return;
  why_down_ = "the node was closed";
  if (const auto session = logging_in_.lock()) session->close();
  session_ = nullptr;
  resident->drop_shell();
  changed.ring();
}

// The operations hold the core from their first moment on, so the node may go before them.
asio::awaitable<Outcome> connect_on(std::shared_ptr<Core> core, Deadline deadline) {
  co_return co_await core->connect(deadline);
}

asio::awaitable<bool> connected_on(std::shared_ptr<Core> core, Deadline deadline) {
  co_return co_await core->connected(deadline);
}

asio::awaitable<Outcome> ask_on(std::shared_ptr<Core> core, std::string line, Deadline deadline) {
  co_return co_await core->resident->ask(std::move(line), deadline);
}

asio::awaitable<Outcome> exec_on(std::shared_ptr<Core> core, Command command, Deadline deadline) {
  auto process = core->start(command.line);
  co_return co_await run_to_end(std::move(process), std::move(command), deadline);
}

asio::awaitable<Opened> open_on(std::shared_ptr<Core> core, std::string line, Deadline deadline) {
  co_return co_await open_stream(core->start(line), deadline);
}

asio::awaitable<Outcome> upload_on(std::shared_ptr<Core> core, std::vector<File> files,
                                   std::string folder, Deadline deadline) {
  if (const auto why = unfit_for_ustar(files)) co_return refused(*why);
  Command unpack{unpack_command(folder), ustar(files)};
  co_return co_await exec_on(core, std::move(unpack), deadline);
}

class SshNode final : public Node {
 public:
  explicit SshNode(std::shared_ptr<Core> core) : core_(std::move(core)) { core_->begin(); }
  ~SshNode() override { core_->close(); }

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
  asio::awaitable<bool> connected(Deadline deadline) override {
    return connected_on(core_, deadline);
  }
  void on_session(SessionListener listener) override {
    core_->listeners.push_back(std::move(listener));
  }
  void close() override { core_->close(); }

 private:
  std::shared_ptr<Core> core_;
};

}  // namespace

std::unique_ptr<Node> make_ssh_node(asio::any_io_executor executor, const scenario::LabNode& node,
                                    std::string known_hosts, SshTimes times) {
  return std::make_unique<SshNode>(
      std::make_shared<Core>(std::move(executor), node, std::move(known_hosts), times));
}

}  // namespace unplug::node
