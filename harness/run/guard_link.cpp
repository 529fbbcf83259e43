#include "run/guard_link.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio.hpp>
#include <sstream>

#include "base/shell.hpp"
#include "run/remote.hpp"

namespace unplug::run {
namespace {

// A lease is renewed three times before it could run out, so that one lost line costs nothing.
constexpr int kRenewalsPerLease = 3;

// A line on an open stream is written in microseconds; longer means that the link is stuck.
constexpr std::chrono::seconds kWrite{2};

}  // namespace

journal::Json fault_data(const FaultPlan& fault, const std::string& role, const std::string& state,
                         const std::string& by) {
  return {{"id", fault.id}, {"instance", fault.instance},
          {"role", role},   {"injector", fault.injector},
          {"state", state}, {"by", by}};
}

asio::awaitable<std::string> GuardLink::start(Deadline deadline) {
  const Call what = fault_.guard_call();
  node::Node& node = stage_.context.node(what.node);
  node::Opened opened = co_await node.open(in_folder(stage_, what.line()), deadline);
  if (!opened.stream) co_return "its guard does not start: " + opened.outcome.text();
  stream_ = std::move(opened.stream);
  asio::co_spawn(stage_.context.executor, listen(shared_from_this()), asio::detached);
  const auto answered = [this] { return said_.armed || said_.gone; };
  const bool settled = co_await until(stage_.context.bell, answered, deadline);
  if (said_.armed) {
    renewed_ = BootClock::now();
    asio::co_spawn(stage_.context.executor, renew(shared_from_this()), asio::detached);
    co_return "";
  }
  if (!settled) co_return "its guard did not answer in time";
  const auto& ended = stream_->ended();
  co_return "its guard ended: " + (ended ? reason(*ended) : std::string("no reason given"));
}

asio::awaitable<bool> GuardLink::loose_trigger(Deadline deadline) {
  if (!stream_) co_return false;
  co_return co_await stream_->write_line("trigger", deadline);
}

asio::awaitable<bool> GuardLink::fire(Deadline deadline) {
  if (!stream_) co_return false;
  // Nobody renews while the node is cut off: the whole lease counts from here.
  if (fault_.cuts_off()) {
    (void)co_await stream_->write_line("renew " + to_seconds(fault_.lease), deadline);
  }
  co_return co_await stream_->write_line("fire", deadline);
}

void GuardLink::close() {
  closed_ = true;
  said_.gone = true;
  stream_.reset();
  stage_.context.bell.ring();
}

asio::awaitable<void> GuardLink::ask_revert(Deadline deadline) {
  bool asked = false;
  if (said_.over()) co_return;
  if (!said_.gone) {
    asked = co_await stream_->write_line("revert", std::min(deadline, within(kWrite)));
  }
  if (asked) co_return;
  const bool reached = co_await stage_.context.node(fault_.actor().node).connected(deadline);
  if (!reached) co_return;
  const std::string folder = shell_quoted(stage_.remote() + "/" + fault_.instance);
  (void)co_await stage_.context.node(fault_.actor().node)
      .ask(": >" + folder + "/please-revert", deadline);
}

asio::awaitable<void> GuardLink::look(Deadline deadline) {
  const std::string folder = shell_quoted(stage_.remote() + "/" + fault_.instance);
  const node::Outcome seen = co_await stage_.context.node(fault_.actor().node)
                                 .ask(fmt::format("for f in fired spent undone; do [ -e {}/$f ] && "
                                                  "echo $f; done; cat {}/guard.log; :",
                                                  folder, folder),
                                      deadline);
  if (!seen.ok() || closed_) co_return;
  // What it said to a stream that was gone stands in its log.
  std::istringstream lines(seen.out);
  std::set<std::string> files;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("{")) {
      if (!heard_.contains(line)) heard(line);
    } else {
      files.insert(line);
    }
  }
  const auto is_there = [&files](const char* f) { return files.contains(f); };
  if (is_there("fired")) said_.fired = true;
  if (is_there("spent")) said_.spent = true;
  if (!is_there("undone") || said_.reverted) co_return;
  // Its last words were lost with the stream.
  said_.reverted = true;
  journal(said_.fired ? "reverted" : "disarmed", {{"why", "seen in its folder"}}, {});
}

asio::awaitable<void> GuardLink::listen(std::shared_ptr<GuardLink> self) {
  while (!self->closed_) {
    // A guard is silent while nothing happens; its end, the session's or ours ends this loop.
    const auto line = co_await self->stream_->read_line(within(std::chrono::hours{24}));
    if (self->closed_) co_return;
    if (!line && !self->stream_->ended()) continue;  // nothing was said for a day
    if (!line) break;
    self->heard(*line);
    self->stage_.context.bell.ring();
  }
  self->said_.gone = true;
  self->stage_.context.bell.ring();
}

asio::awaitable<void> GuardLink::renew(std::shared_ptr<GuardLink> self) {
  const Duration lease = self->fault_.lease;
  // A lease that was made long for a time without us is renewed as often as any other.
  const Duration every = std::min(lease, self->stage_.bundle().lab.limits.fault_lease);
  const GuardSaid& said = self->said_;
  const auto ended = [&said] { return said.over() || said.reverting || said.gone; };
  for (;;) {
    const Deadline next = within(every / kRenewalsPerLease);
    const bool over = co_await until(self->stage_.context.bell, ended, next);
    if (over) co_return;
    (void)co_await self->stream_->write_line("renew " + to_seconds(lease), within(kWrite));
    if (self->closed_) co_return;
    if (!self->lease_lost_ && BootClock::now() - self->renewed_ > lease) {
      self->lease_lost_ = true;
      self->journal("lease_lost", {}, {});
    }
  }
}

void GuardLink::journal(const std::string& state, journal::Json more,
                        const journal::Json& said) const {
  journal::Json data = fault_data(fault_, fault_.actor().role, state, "guard");
  if (more.is_object()) data.update(more);
  journal::Draft draft{.kind = "fault", .data = std::move(data), .node = fault_.actor().node};
  draft.src = "guard";
  if (said.is_object() && said.contains("nt") && !said_.boot.empty()) {
    draft.node_time = journal::NodeTime{said_.boot, said.value("nt", std::int64_t{0})};
  }
  stage_.journal.append(std::move(draft));
}

void GuardLink::heard(const std::string& line) {
  heard_.insert(line);
  const auto said = journal::Json::parse(line, nullptr, false);
  if (!said.is_object()) {
    stage_.note("guard of " + fault_.instance + ": " + line, fault_.actor().node);
    return;
  }
  try {
    take(said);
  } catch (const journal::Json::exception& error) {
    // A line that is not as the protocol says must not cost us the lines after it.
    stage_.note("guard of " + fault_.instance + ": " + error.what() + ": " + line,
                fault_.actor().node);
  }
}

void GuardLink::take(const journal::Json& said) {
  const std::string what = said.value("guard", "");
  if (what == "armed") {
    said_.armed = true;
    said_.gen = said.value("gen", 0);
    said_.boot = said.value("boot", "");
  } else if (what == "bound") {
    said_.victim = said;
    said_.victim.erase("guard");
  } else if (what == "fired") {
    // FaultLife journals `fired`: it knows when fire was asked for.
    said_.fired = true;
    said_.fired_by = BootClock::now();
    said_.nt = said.value("nt", std::int64_t{0});
    said_.line = said.value("line", "");
  } else if (what == "not_fired") {
    said_.not_fired = true;
    said_.why = said.value("why", "");
  } else if (what == "renewed") {
    renewed_ = BootClock::now();
  } else if (what == "reverting") {
    said_.reverting = true;
    said_.why = said.value("why", "");
    journal("reverting", {{"why", said_.why}}, said);
  } else if (what == "reverted") {
    said_.reverted = true;
    journal(said_.fired ? "reverted" : "disarmed", {}, said);
  } else if (what == "still_broken") {
    said_.why = said.value("why", "");
    stage_.note("still broken: " + fault_.instance + ": " + said_.why, fault_.actor().node);
  } else if (what == "spent") {
    said_.spent = true;
  }
}

}  // namespace unplug::run
