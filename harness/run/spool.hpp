// What the observer on one node sees, brought here: no line lost or doubled
// (docs/node-protocol.md).
//
//   observe.pl --> spool/observed --> observe.sh follow OFFSET ==stdout==> Spool --> on_line
//
// The observer spools on the node whether we listen or not. After a lost session we follow from
// the first byte that we have not seen.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "run/context.hpp"
#include "run/remote.hpp"

namespace unplug::run {

class Spool : public std::enable_shared_from_this<Spool> {
 public:
  using Listener = std::function<void(const std::string& node, const journal::Json& line)>;

  Spool(Stage& stage, std::string node, Listener on_line)
      : context_(stage.context),
        home_(in_folder(stage, "sh sh/observe.sh ")),
        node_(std::move(node)),
        on_line_(std::move(on_line)) {}

  // "" or why the observer does not start.
  asio::awaitable<std::string> start(Deadline deadline);

  // One last look at everything, then its end; "" or why its end was not seen.
  asio::awaitable<std::string> stop(Deadline deadline);

  // Nobody is told any more; follow() ends in its own time and touches only the context.
  void close();

  const std::string& node() const { return node_; }

 private:
  static asio::awaitable<void> follow(std::shared_ptr<Spool> self);
  asio::awaitable<void> read(node::Stream& stream);
  void heard(const journal::Json& line);

  Context& context_;
  std::string home_;  // "cd RUN && sh sh/observe.sh "
  std::string node_;
  Listener on_line_;
  std::uint64_t offset_ = 0;
  bool begun_ = false, ended_ = false, closed_ = false;
};

}  // namespace unplug::run
