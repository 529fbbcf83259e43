#include "campaign/repeat.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio.hpp>
#include <csignal>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>

#include "base/shell.hpp"
#include "node/local.hpp"
#include "run/remote.hpp"

namespace unplug::campaign {
namespace {

namespace asio = boost::asio;
namespace fs = std::filesystem;
using node::Outcome;

// Every run ends by limits of its own; this one is for a program that hangs.
constexpr std::chrono::hours kRun{1};

constexpr std::chrono::seconds kConnect{15};

struct Work {
  fs::path scenario;
  int round;
};

std::string line_of(const std::vector<std::string>& words) {
  std::string line = "exec";
  for (const std::string& word : words) line += " " + shell_quoted(word);
  return line + " 2>&1";
}

Exit exit_of(const Outcome& outcome) {
  if (outcome.end != Outcome::End::kExited) return Exit::kInternal;
  for (const Exit known : {Exit::kPass, Exit::kFail, Exit::kUsage, Exit::kInconclusive,
                           Exit::kUnhealed, Exit::kInterrupted}) {
    if (outcome.status == static_cast<int>(known)) return known;
  }
  return Exit::kInternal;
}

std::set<fs::path> entries_of(const fs::path& folder) {
  std::set<fs::path> entries;
  for (const auto& entry : fs::directory_iterator(folder)) entries.insert(entry.path());
  return entries;
}

// What was no pass, out of the run's own result: the folder may hold those of an earlier campaign.
std::vector<std::string> words_of(const fs::path& folder, const std::set<fs::path>& earlier) {
  std::vector<std::string> words;
  for (const fs::path& entry : entries_of(folder)) {
    if (earlier.contains(entry)) continue;
    std::ifstream in(entry / "result.json");
    const auto result = nlohmann::json::parse(in, nullptr, false);
    if (!result.is_object()) continue;
    for (const auto& fault : result.value("faults", nlohmann::json::array())) {
      if (fault.value("confirmed", false)) continue;
      words.push_back("not confirmed: " + fault.value("instance", ""));
    }
    for (const auto& finding : result.value("findings", nlohmann::json::array())) {
      const std::string says = finding.value("says", "");
      if (says != "pass") words.push_back(says + " " + finding.value("check", ""));
    }
  }
  return words;
}

class Repeat {
 public:
  Repeat(const RepeatOptions& options, const std::function<void(const Repeated&)>& done,
         asio::any_io_executor executor)
      : options_(options),
        done_(done),
        local_(node::make_local_node(executor)),
        signals_(executor, SIGINT, SIGTERM, SIGHUP) {
    for (int round = 1; round <= options.times; ++round) {
      for (const fs::path& scenario : options.scenarios) queue_.push_back({scenario, round});
    }
    signals_.async_wait([this](boost::system::error_code error, int) {
      if (error) return;
      outcome_.interrupted = true;
      local_->close();
    });
  }

  asio::awaitable<void> go(asio::any_io_executor executor) {
    const Outcome ready = co_await local_->connect(within(kConnect));
    if (!ready.ok()) throw Error(Exit::kInternal, "", "no process can be started", ready.why);
    std::vector<asio::awaitable<void>> workers;
    for (int i = 0; i < options_.jobs; ++i) workers.push_back(worker());
    co_await run::all(executor, std::move(workers));
    signals_.cancel();
    local_->close();
  }

  RepeatOutcome take() {
    std::ranges::sort(outcome_.runs, {}, [](const Repeated& one) {
      return std::tuple(one.scenario.stem().string(), one.round);
    });
    return std::move(outcome_);
  }

 private:
  asio::awaitable<void> worker() {
    while (next_ < queue_.size() && !outcome_.interrupted) {
      const Work work = queue_[next_++];
      co_await one(work);
    }
  }

  asio::awaitable<void> one(Work work) {
    Repeated run;
    run.scenario = work.scenario;
    run.round = work.round;
    run.folder = options_.out / fmt::format("{}-{}", work.scenario.stem().string(), work.round);
    fs::create_directories(run.folder);
    const std::set<fs::path> earlier = entries_of(run.folder);
    std::vector<std::string> words = options_.words;
    words.push_back(fs::absolute(work.scenario).string());
    words.emplace_back("--out");
    words.push_back(fs::absolute(run.folder).string());
    const auto begun = BootClock::now();
    node::Command command(line_of(words));
    const Outcome outcome = co_await local_->exec(std::move(command), within(kRun));
    if (outcome_.interrupted) co_return;
    std::ofstream(run.folder / "output") << outcome.out << outcome.why;
    run.took = BootClock::now() - begun;
    run.exit = exit_of(outcome);
    run.words = words_of(run.folder, earlier);
    done_(run);
    outcome_.runs.push_back(std::move(run));
  }

  const RepeatOptions& options_;
  const std::function<void(const Repeated&)>& done_;
  std::unique_ptr<node::Node> local_;
  asio::signal_set signals_;
  std::vector<Work> queue_;
  std::size_t next_ = 0;
  RepeatOutcome outcome_;
};

}  // namespace

RepeatOutcome repeat(const RepeatOptions& options,
                     const std::function<void(const Repeated&)>& done) {
  asio::io_context io(1);
  Repeat work(options, done, io.get_executor());
  asio::co_spawn(io, work.go(io.get_executor()), [](std::exception_ptr error) {
    if (error) std::rethrow_exception(error);
  });
  io.run();
  return work.take();
}

}  // namespace unplug::campaign
