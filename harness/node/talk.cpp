#include "node/talk.hpp"

#include <algorithm>
#include <utility>

namespace unplug::node {
namespace {

using End = Outcome::End;

constexpr std::size_t kLongestLine = 1u << 20;
constexpr std::size_t kStreamHolds = 2 * kLongestLine;  // then the command waits for the reader
constexpr std::size_t kStreamErr = 64u << 10;

End to_end(Ending::How how) {
  switch (how) {
    case Ending::How::kExited:
      return End::kExited;
    case Ending::How::kSignalled:
      return End::kSignalled;
    case Ending::How::kRefused:
      return End::kRefused;
    case Ending::How::kLost:
      break;
  }
  return End::kLost;
}

// What a stream and its pending reads share; either may go first.
struct Reading {
  std::shared_ptr<Process> process;
  std::size_t at = 0;       // of process->out.bytes, already given out
  std::uint64_t taken = 0;  // of all that ever came
  bool skipping = false;    // the rest of a line that was cut
  std::optional<Outcome> ended;
  BootClock::time_point begun = BootClock::now();
};

void compact(Reading& reading) {
  // Moving the rest down once a block keeps many short lines from costing a move each.
  if (reading.at < kLongestLine / 4 && reading.at < reading.process->out.bytes.size()) return;
  reading.process->out.bytes.erase(0, reading.at);
  reading.at = 0;
  reading.process->taken();
}

std::optional<std::string> cut_line(Reading& reading, std::size_t size, bool whole) {
  std::string line = reading.process->out.bytes.substr(reading.at, std::min(size, kLongestLine));
  reading.at += size + (whole ? 1 : 0);
  reading.taken += size + (whole ? 1 : 0);
  const bool skipped = std::exchange(reading.skipping, !whole);
  compact(reading);
  if (skipped) return std::nullopt;
  return line;
}

std::optional<std::string> next_line(Reading& reading) {
  for (;;) {
    const std::string& bytes = reading.process->out.bytes;
    const std::size_t feed = bytes.find('\n', reading.at);
    const std::size_t size = std::min(feed, bytes.size()) - reading.at;
    const bool whole = feed != std::string::npos;
    const bool last = reading.process->ended.has_value() && size > 0;
    if (!whole && !last && size < kLongestLine) return std::nullopt;
    if (auto line = cut_line(reading, size, whole || last)) return line;
  }
}

asio::awaitable<std::optional<std::string>> read_line_of(std::shared_ptr<Reading> reading,
                                                         Deadline deadline) {
  Process& process = *reading->process;
  for (;;) {
    if (auto line = next_line(*reading)) co_return line;
    const bool over = process.ended || process.abandoned || BootClock::now() >= deadline;
    if (over) co_return std::nullopt;
    co_await process.changed.wait(deadline);
  }
}

asio::awaitable<bool> write_line_of(std::shared_ptr<Reading> reading, std::string line,
                                    Deadline deadline) {
  Process& process = *reading->process;
  if (process.ended || process.abandoned) co_return false;
  process.send(line + "\n");
  while (!process.input_empty()) {
    const bool over = process.ended || process.abandoned || BootClock::now() >= deadline;
    if (over) co_return false;
    co_await process.changed.wait(deadline);
  }
  co_return true;
}

class ProcessStream final : public Stream {
 public:
  explicit ProcessStream(std::shared_ptr<Process> process) : reading_(std::make_shared<Reading>()) {
    reading_->process = std::move(process);
  }
  ~ProcessStream() override { reading_->process->abandon(); }

  asio::awaitable<bool> write_line(std::string line, Deadline deadline) override {
    return write_line_of(reading_, std::move(line), deadline);
  }

  asio::awaitable<std::optional<std::string>> read_line(Deadline deadline) override {
    return read_line_of(reading_, deadline);
  }

  std::uint64_t taken() const override { return reading_->taken; }

  const std::optional<Outcome>& ended() const override {
    const Process& process = *reading_->process;
    if (process.ended && !reading_->ended) {
      reading_->ended = to_outcome(*process.ended);
      reading_->ended->err = process.err.bytes;
      reading_->ended->begun = reading_->begun;
    }
    return reading_->ended;
  }

 private:
  std::shared_ptr<Reading> reading_;
};

}  // namespace

Outcome to_outcome(const Ending& ending) {
  Outcome outcome;
  outcome.end = to_end(ending.how);
  outcome.status = ending.status;
  outcome.signal = ending.signal;
  outcome.why = ending.why;
  outcome.begun = outcome.ended = BootClock::now();
  return outcome;
}

Outcome refused(std::string why) {
  return to_outcome({Ending::How::kRefused, -1, {}, std::move(why)});
}

asio::awaitable<Outcome> run_to_end(std::shared_ptr<Process> process, Command command,
                                    Deadline deadline) {
  const Held held(process);
  const auto begun = BootClock::now();
  process->out.most = process->err.most = command.most;
  process->send(command.input);
  process->end_input();
  while (!process->ended && BootClock::now() < deadline) co_await process->changed.wait(deadline);

  Outcome outcome;
  if (process->ended) {
    outcome = to_outcome(*process->ended);
  } else {
    outcome.end = End::kTimedOut;
    outcome.why = process->begun ? "the command was still running at the deadline"
                                 : "the command had not begun at the deadline";
  }
  outcome.out = std::move(process->out.bytes);
  outcome.err = std::move(process->err.bytes);
  outcome.truncated = process->out.dropped || process->err.dropped;
  outcome.begun = begun;
  outcome.ended = BootClock::now();
  co_return outcome;
}

asio::awaitable<Opened> open_stream(std::shared_ptr<Process> process, Deadline deadline) {
  process->out.when_full = Output::WhenFull::kHold;
  process->out.most = kStreamHolds;
  process->err.most = kStreamErr;
  Opened opened;
  opened.stream = std::make_unique<ProcessStream>(process);  // abandons it when we are dropped
  opened.outcome.begun = BootClock::now();
  const auto ready = [&process] { return process->begun || process->ended; };
  while (!ready() && BootClock::now() < deadline) co_await process->changed.wait(deadline);

  if (process->begun) {
    opened.outcome.end = End::kExited;
    opened.outcome.status = 0;
  } else if (process->ended) {
    opened.outcome = to_outcome(*process->ended);
  } else {
    opened.outcome.end = End::kTimedOut;
    opened.outcome.why = "the command had not begun at the deadline";
  }
  opened.outcome.ended = BootClock::now();
  if (!opened.outcome.ok()) opened.stream.reset();
  co_return opened;
}

}  // namespace unplug::node
