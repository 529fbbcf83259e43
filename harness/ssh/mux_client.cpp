#include "ssh/mux_client.hpp"

#include <fmt/format.h>

#include <charconv>
#include <optional>

#include "process/script.hpp"

namespace unplug::ssh {
namespace {

// Between the pipe and the reader; the reader's own limits come after it.
constexpr std::size_t kPiece = 65'536;

// For ssh to go by itself once the command has ended, and for one that is killed to be gone.
constexpr auto kGoes = std::chrono::seconds{1};
constexpr auto kGone = std::chrono::seconds{4};

Ending ending_of(const std::string& word) {
  if (word.starts_with("k")) {
    if (word.size() > 1) return {Ending::How::kSignalled, -1, word.substr(1), {}};
    return {Ending::How::kLost, -1, {}, "the shell around the command ended before it"};
  }
  int status = -1;
  std::from_chars(word.data(), word.data() + word.size(), status);
  return {Ending::How::kExited, status, {}, {}};
}

// ssh's own words for: the command was never begun.
bool never_begun(const std::string& said) {
  return said.find("open failed") != std::string::npos ||
         said.find("open refused by peer") != std::string::npos;
}

}  // namespace

MuxClient::MuxClient(asio::any_io_executor executor, std::shared_ptr<Process> process,
                     std::string line)
    : executor_(executor),
      process_(std::move(process)),
      raw_(std::make_shared<Process>(executor)),
      line_(std::move(line)),
      nonce_(make_nonce()),
      out_(nonce_),
      err_(nonce_) {
  raw_->out.when_full = Output::WhenFull::kHold;
  raw_->out.most = kPiece;
  process_->on_touch = [weak = std::weak_ptr(raw_)] {
    if (const auto raw = weak.lock()) raw->changed.ring();
  };
}

asio::awaitable<void> MuxClient::run(std::vector<std::string> words) {
  const auto self = shared_from_this();
  const std::string command = framed_command_with_signal(line_, nonce_);
  if (command.size() > kLongestCommand) {
    process_->finish({Ending::How::kRefused, -1, {}, too_long(command.size())});
    co_return;
  }
  words.push_back(command);
  const Program ssh{std::move(words), "/", Program::WhenAbandoned::kKill};
  const auto child = start_child(executor_, ssh, raw_);
  for (move(); !process_->ended && !process_->abandoned; move()) {
    co_await raw_->changed.wait(within(kGone));
  }
  const Deadline goes = within(kGoes);
  while (!raw_->ended && !process_->abandoned && BootClock::now() < goes) {
    raw_->out.bytes.clear();
    co_await raw_->changed.wait(goes);
  }
  raw_->abandon();
  const Deadline gone = within(kGone);
  while (!raw_->ended && BootClock::now() < gone) co_await raw_->changed.wait(gone);
}

// All that can be moved without waiting.
void MuxClient::move() {
  if (raw_->input_empty()) {
    const std::string input = process_->take_input(kPiece);
    if (!input.empty()) raw_->send(input), process_->changed.ring();
  }
  if (process_->input_ended && process_->input_empty() && !raw_->input_ended) raw_->end_input();
  if (take_output()) process_->changed.ring();
  look_for_the_end();
}

bool MuxClient::take_output() {
  bool any = !raw_->err.bytes.empty();
  err_.feed(std::exchange(raw_->err.bytes, {}),
            [this](std::string_view data) { process_->err.add(data); });
  if (!raw_->out.bytes.empty() && !process_->out.full()) {
    any = true;
    out_.feed(std::exchange(raw_->out.bytes, {}),
              [this](std::string_view data) { process_->out.add(data); });
    raw_->taken();
  }
  process_->begun = process_->begun || out_.begun();
  return any;
}

void MuxClient::look_for_the_end() {
  if (process_->ended) return;
  if (out_.end() && (err_.end() || raw_->ended)) return process_->finish(ending_of(*out_.end()));
  if (!raw_->ended || !raw_->out.bytes.empty()) return;
  out_.flush([this](std::string_view data) { process_->out.add(data); });
  err_.flush([this](std::string_view data) { process_->err.add(data); });
  process_->finish(without_mark());
}

Ending MuxClient::without_mark() const {
  const Ending& ssh = *raw_->ended;
  if (ssh.how == Ending::How::kRefused) return ssh;
  if (out_.begun()) {
    return {Ending::How::kLost, -1, {}, "the channel ended without the command's end mark"};
  }
  std::string noise = out_.noise() + err_.noise();
  while (!noise.empty() && noise.back() == '\n') noise.pop_back();
  if (never_begun(noise)) {
    return {Ending::How::kRefused, -1, {}, "the server opened no channel (MaxSessions?): " + noise};
  }
  const std::string how = ssh.how == Ending::How::kExited ? fmt::format("status {}", ssh.status)
                                                          : "killed by " + ssh.signal;
  // 255 is what ssh says of its own troubles, such as a master that has gone.
  const bool knows = ssh.how == Ending::How::kExited && ssh.status != 255;
  return {knows ? Ending::How::kRefused : Ending::How::kLost,
          -1,
          {},
          fmt::format("the login shell ended ({}) before the command began{}{}", how,
                      noise.empty() ? "" : "; it said: ", noise)};
}

void MuxClient::lose(const std::string& why) {
  process_->finish({Ending::How::kLost, -1, {}, why});
  raw_->changed.ring();
}

}  // namespace unplug::ssh
