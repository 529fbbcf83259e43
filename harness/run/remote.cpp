#include "run/remote.hpp"

#include <fmt/format.h>

#include <boost/asio.hpp>

#include "base/shell.hpp"

namespace unplug::run {
namespace {

using node::Outcome;

std::int64_t ms_between(const Outcome& o) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(o.ended - o.begun).count();
}

const char* end_text(Outcome::End end) {
  switch (end) {
    case Outcome::End::kExited:
      return "exited";
    case Outcome::End::kSignalled:
      return "signalled";
    case Outcome::End::kLost:
      return "lost";
    case Outcome::End::kTimedOut:
      return "timed_out";
    case Outcome::End::kRefused:
      return "refused";
  }
  return "lost";
}

void journal_action(Stage& stage, const Call& what, const char* edge, const Outcome* outcome) {
  journal::Json data = {{"what", what.verb},
                        {"name", what.name},
                        {"seat", what.seat},
                        {"edge", edge},
                        {"line", what.line()}};
  if (outcome != nullptr) {
    data["outcome"] = {{"end", end_text(outcome->end)},
                       {"status", outcome->status},
                       {"signal", outcome->signal},
                       {"ms", ms_between(*outcome)},
                       {"why", outcome->ok() ? "" : reason(*outcome)}};
  }
  stage.journal.append({.kind = "action", .data = std::move(data), .node = what.node});
}

asio::awaitable<void> seat_verb(Stage& stage, Call what, std::string& problem) {
  const Outcome outcome = co_await act(stage, what);
  if (!outcome.ok() && problem.empty()) {
    problem = fmt::format("{} {} on {} ({}): {}", what.name, what.verb, what.node, what.seat,
                          reason(outcome));
  }
}

asio::awaitable<void> seat_ready(Stage& stage, Call what, std::string& problem) {
  const Deadline deadline = within(what.within);
  for (;;) {
    const Outcome outcome = co_await call(stage, what, deadline);
    if (outcome.ok()) {
      journal_action(stage, what, "end", &outcome);
      co_return;
    }
    if (BootClock::now() >= deadline || stage.context.stop != Stop::kNo) {
      journal_action(stage, what, "end", &outcome);
      problem = fmt::format("{} is not ready on {} after {}: {}", what.seat, what.node,
                            for_people(what.within), reason(outcome));
      co_return;
    }
    co_await stage.context.bell.wait(std::min(deadline, within(std::chrono::milliseconds{100})));
  }
}

asio::awaitable<void> counted(asio::awaitable<void> task, std::size_t& left, Bell& done) {
  co_await std::move(task);
  --left;
  done.ring();
}

// What an abandoned look and its asker share; either may go first.
struct Look {
  std::optional<Outcome> outcome;
  std::exception_ptr trouble;
};

asio::awaitable<void> look_into(std::shared_ptr<Look> look,
                                std::function<asio::awaitable<Outcome>()> work) {
  look->outcome = co_await work();
}

}  // namespace

asio::awaitable<Outcome> unless_stopped(Context& context,
                                        std::function<asio::awaitable<Outcome>()> work) {
  const auto look = std::make_shared<Look>();
  asio::co_spawn(context.executor, look_into(look, std::move(work)),
                 [look, &context](std::exception_ptr error) {
                   look->trouble = error;
                   context.bell.ring();
                 });
  const auto over = [look, &context] {
    return look->outcome || look->trouble || context.stop != Stop::kNo;
  };
  // The work has a deadline of its own; this one only wakes us now and then.
  while (!over()) (void)co_await until(context.bell, over, within(std::chrono::hours{1}));
  if (look->trouble) std::rethrow_exception(look->trouble);
  if (look->outcome) co_return *look->outcome;
  Outcome given_up;
  given_up.why = context.why_stopped;
  co_return given_up;
}

std::string in_folder(const Stage& stage, const std::string& line) {
  return "cd " + shell_quoted(stage.remote()) + " && " + line;
}

asio::awaitable<Outcome> call(Stage& stage, Call what, Deadline deadline) {
  co_return co_await stage.context.node(what.node).exec(
      node::Command(in_folder(stage, what.line())), deadline);
}

asio::awaitable<Outcome> act(Stage& stage, Call what) {
  journal_action(stage, what, "begin", nullptr);
  const std::string line = what.own.empty() ? in_folder(stage, what.line()) : what.own;
  const Outcome outcome =
      co_await stage.context.node(what.node).exec(node::Command(line), within(what.within));
  journal_action(stage, what, "end", &outcome);
  co_return outcome;
}

asio::awaitable<void> all(asio::any_io_executor executor,
                          std::vector<asio::awaitable<void>> tasks) {
  std::size_t left = tasks.size();
  Bell done(executor);
  std::exception_ptr trouble;
  for (auto& task : tasks) {
    asio::co_spawn(executor, counted(std::move(task), left, done), [&](std::exception_ptr error) {
      if (!error) return;
      trouble = error;
      --left;
      done.ring();
    });
  }
  // Each task has a deadline of its own; this one only wakes us now and then.
  while (left > 0) co_await done.wait(within(std::chrono::hours{1}));
  if (trouble) std::rethrow_exception(trouble);
}

asio::awaitable<std::string> target_verb(Stage& stage, std::string verb,
                                         std::vector<std::string> args) {
  std::string problem;
  // What takes things back goes on past failures, everything else does not.
  const bool takes_back = verb == "stop" || verb == "remove";
  for (auto& group : target_calls(stage.bundle(), stage.plan(), verb, args)) {
    std::vector<asio::awaitable<void>> tasks;
    for (Call& what : group) tasks.push_back(seat_verb(stage, std::move(what), problem));
    co_await all(stage.context.executor, std::move(tasks));
    if (!problem.empty() && !takes_back) break;
  }
  co_return problem;
}

asio::awaitable<std::string> wait_ready(Stage& stage) {
  std::string problem;
  std::vector<asio::awaitable<void>> tasks;
  for (auto& group : target_calls(stage.bundle(), stage.plan(), "ready")) {
    for (Call& what : group) tasks.push_back(seat_ready(stage, std::move(what), problem));
  }
  co_await all(stage.context.executor, std::move(tasks));
  co_return problem;
}

journal::Json last_json(const std::string& text) {
  std::size_t end = text.size();
  while (end > 0) {
    const std::size_t feed = text.rfind('\n', end - 1);
    const std::size_t begin = feed == std::string::npos ? 0 : feed + 1;
    if (begin < end && text[begin] == '{') {
      auto parsed = journal::Json::parse(text.substr(begin, end - begin), nullptr, false);
      if (parsed.is_object()) return parsed;
    }
    if (feed == std::string::npos) break;
    end = feed;
  }
  return nullptr;
}

std::string reason(const Outcome& outcome) {
  if (outcome.end != Outcome::End::kExited) return outcome.text();
  std::string err = outcome.err;
  while (!err.empty() && err.back() == '\n') err.pop_back();
  const std::size_t feed = err.rfind('\n');
  if (feed != std::string::npos) err.erase(0, feed + 1);
  return err.empty() ? outcome.text() : fmt::format("{} ({})", err, outcome.text());
}

}  // namespace unplug::run
