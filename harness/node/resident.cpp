#include "node/resident.hpp"

#include <charconv>
#include <utility>

#include "node/talk.hpp"
#include "process/frame.hpp"
#include "process/script.hpp"

namespace unplug::node {
namespace {

using End = Outcome::End;

Outcome ended_shell(const Ending& ending) {
  Outcome outcome = to_outcome(ending);
  if (outcome.end == End::kLost || outcome.end == End::kRefused) return outcome;
  outcome.why = "the resident shell ended: " + outcome.text();
  outcome.end = End::kLost;
  return outcome;
}

Outcome timed_out(std::string why) {
  Outcome outcome;
  outcome.end = End::kTimedOut;
  outcome.why = std::move(why);
  return outcome;
}

// Takes what arrived through the frame.
void take(Output& from, Frame& frame, Output& to) {
  const std::string bytes = std::exchange(from.bytes, {});
  frame.feed(bytes, [&to](std::string_view data) { to.add(data); });
}

}  // namespace

struct Resident::Place {
  explicit Place(std::shared_ptr<Resident> of) : resident(std::move(of)) {
    resident->queue_.push_back(this);
  }
  ~Place() {
    resident->queue_.remove(this);
    resident->next_.ring();
  }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;
  bool is_first() const { return resident->queue_.front() == this; }

  std::shared_ptr<Resident> resident;
};

Resident::Resident(asio::any_io_executor executor, std::function<std::shared_ptr<Process>()> start)
    : start_(std::move(start)), next_(std::move(executor)) {}

asio::awaitable<Outcome> Resident::begin(Deadline deadline) {
  const auto self = shared_from_this();
  if (!shell_ || shell_->ended) shell_ = start_();
  const std::shared_ptr<Process> shell = shell_;
  const auto known = [&shell] { return shell->begun || shell->ended || shell->abandoned; };
  while (!known() && BootClock::now() < deadline) co_await shell->changed.wait(deadline);
  if (shell->ended) co_return ended_shell(*shell->ended);
  if (!shell->begun) co_return timed_out("no answer of the resident shell");
  Outcome outcome = to_outcome({Ending::How::kExited, 0, {}, {}});
  co_return outcome;
}

asio::awaitable<Outcome> Resident::ask(std::string line, Deadline deadline) {
  const Place place(shared_from_this());
  const auto begun = BootClock::now();
  while (!place.is_first() && BootClock::now() < deadline) co_await next_.wait(deadline);
  Outcome outcome = timed_out("other lines held the resident shell until the deadline");
  if (place.is_first()) outcome = co_await ask_now(std::move(line), deadline);
  outcome.begun = begun;
  outcome.ended = BootClock::now();
  co_return outcome;
}

asio::awaitable<Outcome> Resident::ask_now(std::string line, Deadline deadline) {
  if (!shell_ || shell_->ended) shell_ = start_();
  const std::shared_ptr<Process> shell = shell_;
  // Gone by default: only a line that came back whole leaves the shell in its place.
  struct Lease {
    Resident& resident;
    bool returned = false;
    ~Lease() {
      if (!returned) resident.drop_shell();
    }
  } lease{*this};

  const std::string nonce = make_nonce();
  Frame out(nonce), err(nonce);
  Output kept_out, kept_err;
  shell->send(framed_line(line, nonce) + "\n");
  for (;;) {
    take(shell->out, out, kept_out);
    take(shell->err, err, kept_err);
    if (out.end() && err.end()) break;
    if (shell->ended) co_return ended_shell(*shell->ended);
    if (BootClock::now() >= deadline) co_return timed_out("no answer of the resident shell");
    co_await shell->changed.wait(deadline);
  }
  lease.returned = true;
  Outcome outcome = to_outcome({Ending::How::kExited, -1, {}, {}});
  std::from_chars(out.end()->data(), out.end()->data() + out.end()->size(), outcome.status);
  outcome.truncated = kept_out.dropped || kept_err.dropped;
  outcome.out = std::move(kept_out.bytes);
  outcome.err = std::move(kept_err.bytes);
  co_return outcome;
}

void Resident::drop_shell() {
  if (shell_) std::exchange(shell_, nullptr)->abandon();
}

}  // namespace unplug::node
