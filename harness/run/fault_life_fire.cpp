// A fault's life: it is fired, and when that was.
#include <fmt/format.h>

#include <algorithm>

#include "run/fault_life.hpp"
#include "run/remote.hpp"

namespace unplug::run {
namespace {

constexpr std::chrono::seconds kFireWithin{10};

}  // namespace

asio::awaitable<bool> FaultLife::fire() {
  const auto asked_at = BootClock::now();
  const GuardSaid& said = guard_->said();
  const auto answered = [&said] {
    return said.fired || said.not_fired || said.reverting || said.gone;
  };
  if (!fault_.armed_on_node && !answered()) {
    (void)co_await guard_->fire(within(kFireWithin));
    const Deadline give_up = within(stage_.context.times.effect_within + silence());
    (void)co_await until(stage_.context.bell, answered, give_up);
  }
  if (said.gone && !said.fired) {
    // The stream went with the answer in it: the folder says whether fire was begun.
    const Deadline back = within(kFireWithin + silence());
    (void)co_await stage_.context.node(fault_.actor().node).connected(back);
    co_await guard_->look(within(kFireWithin));
  }
  if (said.fired) {
    journal_fired(asked_at);
    co_return true;
  }
  const std::string why = said.not_fired   ? said.why
                          : said.reverting ? "the guard had ended it: " + said.why
                                           : "fire was not answered";
  journal("no_effect", {{"why", why}});
  stage_.context.progress.fact(fault_.id, "not fired: " + why);
  co_await revert("planned");
  co_await own_up(asked_at, why);
  co_return false;
}

asio::awaitable<void> FaultLife::own_up(BootClock::time_point asked_at, std::string why) {
  if (!guard_->said().fired) co_return;
  journal_fired(asked_at);
  journal("ended_early", {{"why", why}});
  if (guard_->said().spent) journal("spent");
  if (guard_->said().reverted) co_await prove_reverted();
}

void FaultLife::journal_fired(BootClock::time_point asked_at) {
  const GuardSaid& said = guard_->said();
  fired_ = true;
  auto t0 = asked_at.time_since_epoch().count();
  auto t1 = said.fired_by == BootClock::time_point{} ? BootClock::now() : said.fired_by;
  if (fault_.cuts_off() && said.nt != 0) {
    // Its word may have waited for the node to come back.
    const auto bounds = stage_.context.clocks.ours(fault_.actor().node, said.boot, said.nt);
    if (bounds) t1 = std::min(t1, BootClock::time_point{Duration{bounds->latest}});
  }
  if (fault_.armed_on_node) {
    // The node fired by itself. Its clock has steps of 10 ms; without one all that is known is
    // that it was after `started`.
    constexpr std::int64_t kStep = 10'000'000;
    const auto bounds = stage_.context.clocks.ours(fault_.actor().node, said.boot, said.nt - kStep);
    t0 = bounds ? bounds->earliest : stage_.started.time_since_epoch().count();
  }
  t0 = std::min(t0, t1.time_since_epoch().count());
  fired_at_ = t1;
  journal::Json data = {{"t0", t0}, {"t1", t1.time_since_epoch().count()}};
  const auto optional = [](const std::optional<double>& v) {
    return v ? journal::Json(*v) : journal::Json();
  };
  data["asked"] = optional(watch_.asked());
  data["reached"] =
      optional(fault_.armed_on_node ? number_in(stage_.bundle().target, fault_.trigger, said.line)
                                    : watch_.reached());
  data["line"] = said.line;
  data["victim"] = said.victim;
  journal::Json full = fault_data(fault_, fault_.actor().role, "fired", "controller");
  full.update(data);
  journal::Draft draft{.kind = "fault", .data = std::move(full), .node = fault_.actor().node};
  if (said.nt != 0) draft.node_time = journal::NodeTime{said.boot, said.nt};
  stage_.journal.append(std::move(draft));
  stage_.journal.sync();
  std::string where = fault_.victim ? fault_.victim->seat.text() : fault_.actor().node;
  if (said.victim.is_object()) where += fmt::format(", pid {}", said.victim.value("pid", 0));
  stage_.context.progress.fact(fault_.id,
                               fmt::format("{} fired at {}{}", fault_.injector, where,
                                           said.line.empty() ? "" : " on \"" + said.line + "\""));
  news_.fired(fault_);
}

}  // namespace unplug::run
