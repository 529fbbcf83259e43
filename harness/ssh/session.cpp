#include "ssh/session.hpp"

#include <boost/asio.hpp>

#include "process/script.hpp"
#include "ssh/channel.hpp"
#include "ssh/link.hpp"

namespace unplug::ssh {

std::shared_ptr<Session> Session::make(asio::any_io_executor executor,
                                       std::function<void(std::string)> on_lost) {
  return std::shared_ptr<Session>(new Session(std::move(executor), std::move(on_lost)));
}

Session::Session(asio::any_io_executor executor, std::function<void(std::string)> on_lost)
    : executor_(executor),
      on_lost_(std::move(on_lost)),
      link_(std::make_shared<Link>(executor)),
      alarm_(executor) {}

Session::~Session() { close(); }

asio::awaitable<LoginResult> Session::log_in(Login login, Deadline deadline) {
  const auto self = shared_from_this();
  LoginResult result = co_await ssh::log_in(link_, std::move(login), deadline);
  if (result.end == LoginResult::End::kDone) {
    up_ = true;
    link_->on_ready = [weak = weak_from_this()] {
      if (const auto session = weak.lock()) session->schedule_turn();
    };
    schedule_turn();
  } else {
    link_->close();
  }
  co_return result;
}

// Null when there is no session; the process has ended then.
std::unique_ptr<Channel> Session::channel_for(std::string_view line,
                                              std::shared_ptr<Process>& process) {
  process = std::make_shared<Process>(executor_);
  process->on_touch = [weak = weak_from_this()] {
    if (const auto session = weak.lock()) session->schedule_turn();
  };
  if (up_) return std::make_unique<Channel>(process, line, make_nonce());
  process->finish({Ending::How::kRefused, -1, {}, "there is no session"});
  return nullptr;
}

std::shared_ptr<Process> Session::start(std::string_view line) {
  std::shared_ptr<Process> process;
  auto channel = channel_for(line, process);
  if (channel) waiting_.push_back(std::move(channel));
  schedule_turn();
  return process;
}

std::shared_ptr<Process> Session::start_kept(std::string_view line) {
  std::shared_ptr<Process> process;
  auto channel = channel_for(line, process);
  if (channel) {
    kept_ = channel.get();
    waiting_.push_front(std::move(channel));
  }
  schedule_turn();
  return process;
}

void Session::schedule_turn() {
  if (scheduled_ || !up_) return;
  scheduled_ = true;
  asio::post(executor_, [weak = weak_from_this()] {
    if (const auto session = weak.lock()) session->turn();
  });
}

void Session::turn() {
  scheduled_ = false;
  if (!up_) return;
  link_->clear_dry();
  do {
    if (!step_all()) return;
  } while (admit());
  sleep_until_needed();
}

// Lets the next channel in, if it may come; false when none came.
bool Session::admit() {
  while (!waiting_.empty() && !waiting_.front()->wanted()) {
    forget(waiting_.front().get());
    waiting_.pop_front();
  }
  const std::size_t most = kept_ == nullptr ? kMostChannels - 1 : kMostChannels;
  if (waiting_.empty() || open_.size() >= most) return false;
  for (const auto& channel : open_) {
    if (channel->opening()) return false;
  }
  open_.push_back(std::move(waiting_.front()));
  waiting_.pop_front();
  return true;
}

void Session::forget(const Channel* channel) {
  if (kept_ == channel) kept_ = nullptr;
}

// False when the session went.
bool Session::step_all() {
  for (auto at = open_.begin(); at != open_.end();) {
    Channel* const channel = at->get();
    if (owner_ != nullptr && owner_ != channel) {
      ++at;
      continue;
    }
    const bool was_owner = owner_ == channel;
    const Channel::Step step = channel->step(*link_);
    owner_ = step == Channel::Step::kHalfSent ? channel : nullptr;
    if (step == Channel::Step::kMore) schedule_turn();
    if (step == Channel::Step::kBroken) {
      end("the connection broke: " + link_->last_error());
      return false;
    }
    if (step == Channel::Step::kGone) forget(channel);
    at = step == Channel::Step::kGone ? open_.erase(at) : std::next(at);
    if (was_owner && owner_ == nullptr) at = open_.begin();  // the others may call again
  }
  return true;
}

void Session::sleep_until_needed() {
  link_->wait_for(owner_ != nullptr ? LIBSSH2_SESSION_BLOCK_INBOUND | LIBSSH2_SESSION_BLOCK_OUTBOUND
                                    : LIBSSH2_SESSION_BLOCK_INBOUND);
  for (const auto& channel : open_) {
    if (!channel->again_at()) continue;
    alarm_.expires_after(std::max<BootClock::duration>(*channel->again_at() - BootClock::now(),
                                                       std::chrono::milliseconds{1}));
    alarm_.async_wait([weak = weak_from_this()](boost::system::error_code aborted) {
      const auto session = weak.lock();
      if (!aborted && session) session->schedule_turn();
    });
    return;
  }
}

void Session::lose(std::string why) {
  if (up_) end(why);
}

void Session::end(const std::string& why) {
  up_ = false;
  owner_ = nullptr;
  kept_ = nullptr;
  link_->close();
  alarm_.cancel();
  const auto open = std::move(open_);
  const auto waiting = std::move(waiting_);
  open_.clear(), waiting_.clear();
  for (const auto& channel : open) channel->lose(why);
  for (const auto& channel : waiting) channel->lose(why);
  if (on_lost_) std::exchange(on_lost_, nullptr)(why);
}

void Session::close() {
  on_lost_ = nullptr;
  if (up_) end("the node was closed");
  link_->close();
}

}  // namespace unplug::ssh
