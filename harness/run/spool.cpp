#include "run/spool.hpp"

#include <fmt/format.h>

#include <boost/asio.hpp>

namespace unplug::run {
namespace {

constexpr std::chrono::seconds kOpenWithin{10};
constexpr std::chrono::milliseconds kRetry{200};
constexpr std::chrono::seconds kLook{2};

}  // namespace

asio::awaitable<std::string> Spool::start(Deadline deadline) {
  const node::Outcome outcome =
      co_await context_.node(node_).exec(node::Command(home_ + "start"), deadline);
  if (!outcome.ok()) {
    co_return fmt::format("the observer does not start on {}: {}", node_, reason(outcome));
  }
  asio::co_spawn(context_.executor, follow(shared_from_this()), asio::detached);
  const auto has_begun = [this] { return begun_; };
  const bool begun = co_await until(context_.bell, has_begun, deadline);
  co_return begun ? "" : fmt::format("the observer on {} says nothing", node_);
}

asio::awaitable<std::string> Spool::stop(Deadline deadline) {
  const node::Outcome outcome =
      co_await context_.node(node_).exec(node::Command(home_ + "stop"), deadline);
  const auto has_ended = [this] { return ended_; };
  if (begun_) (void)co_await until(context_.bell, has_ended, deadline);
  close();
  if (ended_) co_return "";
  co_return fmt::format("the end of the observer on {} was not seen ({})", node_, reason(outcome));
}

void Spool::close() {
  closed_ = true;
  on_line_ = nullptr;
  context_.bell.ring();
}

asio::awaitable<void> Spool::follow(std::shared_ptr<Spool> self) {
  while (!self->ended_ && !self->closed_) {
    const std::string line = self->home_ + fmt::format("follow {}", self->offset_);
    node::Opened opened = co_await self->context_.node(self->node_).open(line, within(kOpenWithin));
    if (opened.stream) {
      co_await self->read(*opened.stream);
    } else {
      co_await self->context_.bell.wait(within(kRetry));
    }
  }
}

asio::awaitable<void> Spool::read(node::Stream& stream) {
  const std::uint64_t from = offset_;
  while (!ended_ && !closed_) {
    // Alive lines come every second; a pause only lets us look whether we are to close.
    const auto text = co_await stream.read_line(within(kLook));
    if (closed_ || (!text && stream.ended())) co_return;
    if (!text) continue;
    const auto line = journal::Json::parse(*text, nullptr, false);
    // A loss cuts the last line short: it is asked for again from its first byte.
    if (!line.is_object() && stream.ended()) co_return;
    offset_ = from + stream.taken();  // not the text's length: over 1 MiB it is cut
    heard(line);
  }
}

void Spool::heard(const journal::Json& line) {
  if (!line.is_object()) return;  // torn by a crash of the observer
  const journal::Json kind = line.value("k", journal::Json());
  begun_ = begun_ || kind == "begin";
  ended_ = ended_ || kind == "end";
  on_line_(node_, line);
  context_.bell.ring();
}

}  // namespace unplug::run
