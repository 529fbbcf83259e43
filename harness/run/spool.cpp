#include "run/spool.hpp"

#include <fmt/format.h>

#include <boost/asio.hpp>

#include "run/remote.hpp"

namespace unplug::run {
namespace {

constexpr std::chrono::seconds kOpenWithin{10};
constexpr std::chrono::milliseconds kRetry{200};

}  // namespace

asio::awaitable<std::string> Spool::start(Deadline deadline) {
  const node::Outcome outcome = co_await stage_.context.node(node_).exec(
      node::Command(in_folder(stage_, "sh sh/observe.sh start")), deadline);
  if (!outcome.ok()) {
    co_return fmt::format("the observer does not start on {}: {}", node_, reason(outcome));
  }
  asio::co_spawn(stage_.context.executor, follow(shared_from_this()), asio::detached);
  const auto has_begun = [this] { return begun_; };
  const bool begun = co_await until(stage_.context.bell, has_begun, deadline);
  co_return begun ? "" : fmt::format("the observer on {} says nothing", node_);
}

asio::awaitable<std::string> Spool::stop(Deadline deadline) {
  const node::Outcome outcome = co_await stage_.context.node(node_).exec(
      node::Command(in_folder(stage_, "sh sh/observe.sh stop")), deadline);
  const auto has_ended = [this] { return ended_; };
  (void)co_await until(stage_.context.bell, has_ended, deadline);
  closing_ = true;
  stage_.context.bell.ring();
  const auto is_done = [this] { return done_; };
  (void)co_await until(stage_.context.bell, is_done, within(kOpenWithin));
  if (ended_) co_return "";
  co_return fmt::format("the end of the observer on {} was not seen ({})", node_, reason(outcome));
}

asio::awaitable<void> Spool::follow(std::shared_ptr<Spool> self) {
  node::Node& node = self->stage_.context.node(self->node_);
  while (!self->ended_ && !self->closing_) {
    const std::string line =
        in_folder(self->stage_, fmt::format("sh sh/observe.sh follow {}", self->offset_));
    node::Opened opened = co_await node.open(line, within(kOpenWithin));
    if (!opened.stream) {
      co_await self->stage_.context.bell.wait(within(kRetry));
      continue;
    }
    while (!self->ended_ && !self->closing_) {
      // Alive lines come every second; a pause only lets us look whether we are to close.
      const auto text = co_await opened.stream->read_line(within(std::chrono::seconds{2}));
      if (text) {
        self->offset_ += text->size() + 1;
        self->heard(*text);
      } else if (opened.stream->ended()) {
        break;
      }
    }
  }
  self->done_ = true;
  self->stage_.context.bell.ring();
}

void Spool::heard(const std::string& text) {
  const auto line = journal::Json::parse(text, nullptr, false);
  if (!line.is_object()) {
    stage_.note("the observer said: " + text.substr(0, 200), node_);
    return;
  }
  const std::string kind = line.value("k", "");
  begun_ = begun_ || kind == "begin";
  ended_ = ended_ || kind == "end";
  on_line_(node_, line);
  stage_.context.bell.ring();
}

}  // namespace unplug::run
