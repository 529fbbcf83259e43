#include "run/heal.hpp"

#include <fmt/format.h>

#include <boost/asio.hpp>
#include <map>
#include <sstream>

#include "base/open_files.hpp"
#include "base/shell.hpp"
#include "base/write_file.hpp"
#include "journal/event.hpp"
#include "node/ssh_node.hpp"
#include "run/bell.hpp"
#include "run/lock.hpp"
#include "run/remote.hpp"
#include "run/upload.hpp"

namespace unplug::run {
namespace {

namespace fs = std::filesystem;
using journal::Json;
using node::Outcome;

constexpr std::chrono::seconds kHealAsk{10};
// The longest undo_settle of a shipped injector, the guard's own stop, and the target's stop.
constexpr std::chrono::seconds kUndo{120};
constexpr std::chrono::seconds kRemoved{60};  // the target's own `remove` of every seat is in it

constexpr const char* kDropLock = "rm -rf ~/.unplug/lock; rmdir ~/.unplug 2>/dev/null; :";

class Healer {
 public:
  Healer(const scenario::Lab& lab, const HealOptions& options, Progress& progress,
         asio::any_io_executor executor)
      : lab_(lab), options_(options), progress_(progress), executor_(executor), bell_(executor) {
    need_open_files_for(lab.nodes.size());
    for (const auto& node : lab.nodes) {
      nodes_[node.name] = node::make_ssh_node(executor, node, lab.known_hosts);
    }
  }

  asio::awaitable<void> go() {
    std::vector<asio::awaitable<void>> tasks;
    for (const auto& [name, node] : nodes_) tasks.push_back(heal_node(name));
    co_await all(executor_, std::move(tasks));
    for (const auto& [name, node] : nodes_) node->close();
  }

  Healed result;

 private:
  asio::awaitable<Outcome> script(std::string node, std::string file, std::string words,
                                  Duration most) {
    co_return co_await nodes_.at(node)->exec(node::Command("sh -s -- " + words, node_script(file)),
                                             within(most));
  }

  asio::awaitable<void> heal_node(std::string name) {
    const Outcome reached = co_await nodes_.at(name)->connect(within(kConnect));
    if (!reached.ok()) {
      result.unreachable.push_back(name + ": " + reached.why);
      co_return;
    }
    // SAFETY: another lab's runs are not ours to end (tests/e2e/lock.test).
    const Outcome marker = co_await nodes_.at(name)->ask(
        "head -n 1 ~/.config/unplug/lab 2>/dev/null; :", within(kHealAsk));
    if (marker.out != lab_.name + "\n") {
      result.unreachable.push_back(
          fmt::format("{}: it has not opted in to lab \"{}\"", name, lab_.name));
      co_return;
    }
    // SAFETY: forced means that a live run loses its lock, and stops when it notices
    // (Preflight.EndsTheRunWhenALockIsNotOursAnyMore).
    if (options_.force) (void)co_await nodes_.at(name)->ask(kDropLock, within(kHealAsk));
    const bool free = co_await take_lock(name);
    if (!free) co_return;
    bool done = false;
    std::vector<asio::awaitable<void>> tasks;
    tasks.push_back(renew(name, done));
    tasks.push_back(heal_runs(name, done));
    co_await all(executor_, std::move(tasks));
    (void)co_await lock_verb(*nodes_.at(name), "release", holder_);
    // Half a lock, when the disk was full. SAFETY: a whole one may be the next run's by now.
    (void)co_await nodes_.at(name)->ask("[ -e ~/.unplug/lock/owner ] || " + std::string(kDropLock),
                                        within(kHealAsk));
  }

  asio::awaitable<void> heal_runs(std::string name, bool& done) {
    try {
      const Outcome runs = co_await nodes_.at(name)->ask(kListRuns, within(kHealAsk));
      std::istringstream names(runs.out);
      for (std::string run; std::getline(names, run);) co_await heal_run(name, run);
    } catch (const std::exception& error) {
      result.left.push_back(name + ": " + error.what());
    }
    done = true;
    bell_.ring();
  }

  // A heal that dies leaves a lock that ends with its lease.
  asio::awaitable<void> renew(std::string name, const bool& done) {
    const auto is_done = [&done] { return done; };
    while (!done) {
      const bool over = co_await until(bell_, is_done, within(holder_.lease / 3));
      if (!over) (void)co_await lock_verb(*nodes_.at(name), "renew", holder_);
    }
  }

  // A dead controller's lock ends with its lease; a live one's is renewed before that.
  asio::awaitable<bool> take_lock(std::string name) {
    const Deadline give_up = within(lab_.limits.fault_lease + std::chrono::seconds{2});
    for (;;) {
      const Outcome taken = co_await lock_verb(*nodes_.at(name), "take", holder_);
      if (taken.ok()) co_return true;
      if (taken.end != Outcome::End::kExited) {
        result.unreachable.push_back(name + ": " + reason(taken));
        co_return false;
      }
      const auto by = locked_by(taken);
      if (!by) {
        // SAFETY: an undo needs no room on the node, so a full disk must not keep us from it.
        progress_.fact(name, "healing without the lock, which cannot be written: " + reason(taken));
        co_return true;
      }
      if (BootClock::now() >= give_up) {
        result.in_use.push_back(fmt::format(
            "{}: run {} of {} is alive ({} s of its lease left); stop it, or use --force", name,
            by->run, by->owner, by->left));
        co_return false;
      }
      progress_.fact(name,
                     fmt::format("waiting {} s for the lock of run {} to end", by->left, by->run));
      co_await bell_.wait(std::min(give_up, within(std::chrono::seconds{1})));
    }
  }

  asio::awaitable<void> heal_run(std::string name, std::string run) {
    const Outcome undo = co_await script(name, "heal.sh", "undo " + shell_quoted(run), kUndo);
    bool finished = false;
    const std::size_t left_before = result.left.size();
    std::istringstream lines(undo.out);
    for (std::string text; std::getline(lines, text);) {
      const Json line = Json::parse(text, nullptr, false);
      if (!line.is_object()) continue;
      finished = finished || line.value("heal", "") == "done";
      tell(name, run, line);
    }
    if (!finished) result.left.push_back(fmt::format("{}: run {}: {}", name, run, reason(undo)));
    const std::string unstored = co_await store(name, run, undo.out);
    if (result.left.size() != left_before) co_return;
    if (!unstored.empty()) {
      // The folder holds the only record of how its faults ended.
      result.kept.push_back(
          fmt::format("{}: nothing is left to undo, but the folder of run {} is kept there: {}",
                      name, run, unstored));
      co_return;
    }
    const Outcome removed =
        co_await script(name, "heal.sh", "remove " + shell_quoted(run), kRemoved);
    if (!removed.ok()) {
      result.left.push_back(fmt::format("{}: run {}: {}", name, run, reason(removed)));
    }
  }

  void tell(const std::string& name, const std::string& run, const Json& line) {
    const std::string what = line.value("heal", "");
    const std::string state = line.value("state", "");
    if (what == "fault") {
      const std::string fault = line.value("fault", "");
      progress_.fact(name, fmt::format("{} of run {}: {}", fault, run, state));
      ++result.undone;
      if (state == "stranded") {
        result.left.push_back(fmt::format(
            "{}: {} of run {} is still in effect: {}; by hand: cd ~/.unplug/{} && sh {}/guard.sh "
            "undo hand",
            name, fault, run, line.value("why", ""), run, fault));
      }
    } else if (what == "process") {
      const std::string process = fmt::format("{} {} (pid {})", line.value("part", ""),
                                              line.value("seat", ""), line.value("pid", 0));
      progress_.fact(name, process + ": " + state);
      ++result.undone;
      if (state == "still_there") result.left.push_back(name + ": " + process + " is still there");
    }
  }

  fs::path folder_of(const std::string& run) {
    if (options_.into && run == options_.into->filename().string()) {
      return *options_.into / "healed";
    }
    if (result.folder.empty()) result.folder = options_.out / ("heal-" + wall_stamp());
    return result.folder;
  }

  // "" or why not all of it is here.
  asio::awaitable<std::string> store(std::string name, std::string run, std::string said) {
    const fs::path folder = folder_of(run);
    if (result.folder.empty()) result.folder = folder;
    std::string trouble = keep(folder, name + ".heal.jsonl", said);
    const std::string home = shell_quoted(".unplug/" + run);
    const Outcome logs = co_await nodes_.at(name)->ask(
        fmt::format("for f in {}/*/guard.log; do [ -f \"$f\" ] && basename \"${{f%/guard.log}}\"; "
                    "done; :",
                    home),
        within(kHealAsk));
    if (!logs.ok()) trouble = reason(logs);
    std::istringstream faults(logs.out);
    for (std::string fault; trouble.empty() && std::getline(faults, fault);) {
      const Outcome log = co_await nodes_.at(name)->exec(
          node::Command(fmt::format("cat {}/{}/guard.log", home, shell_quoted(fault))),
          within(kHealAsk));
      trouble = log.ok() ? keep(folder, name + "." + fault + ".jsonl", log.out) : reason(log);
    }
    co_return trouble;
  }

  static std::string keep(const fs::path& folder, const std::string& file,
                          const std::string& text) {
    try {
      fs::create_directories(folder);
      write_file(folder / file, text,
                 "make room there, or name another folder with --out, and heal again");
    } catch (const fs::filesystem_error& error) {
      return fmt::format("{} cannot be made: {}; name another folder with --out, and heal again",
                         folder.string(), error.code().message());
    } catch (const std::exception& error) {
      return error.what();
    }
    return "";
  }

  const scenario::Lab& lab_;
  const HealOptions& options_;
  Progress& progress_;
  asio::any_io_executor executor_;
  Bell bell_;
  LockHolder holder_{"heal-" + wall_stamp(), lab_.limits.fault_lease};
  std::map<std::string, std::unique_ptr<node::Node>> nodes_;
};

}  // namespace

Healed heal(const scenario::Lab& lab, const HealOptions& options, Progress& progress) {
  asio::io_context io(1);
  Healer healer(lab, options, progress, io.get_executor());
  asio::co_spawn(io, healer.go(), [](std::exception_ptr error) {
    if (error) std::rethrow_exception(error);
  });
  io.run();
  return std::move(healer.result);
}

}  // namespace unplug::run
