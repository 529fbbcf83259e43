#include "check/processes.hpp"

#include <fmt/format.h>

#include "check/fields.hpp"

namespace unplug::check {
namespace {

Ended ended_from(const journal::Json& data) {
  Ended ended;
  const journal::Json* exit = field(data, "exit");
  if (exit == nullptr) return ended;
  if (const auto code = integer_of(*exit, "code")) {
    ended.how = Ended::How::kCode;
    ended.code = *code;
  } else if (!text_of(*exit, "signal").empty()) {
    ended.how = Ended::How::kSignal;
    ended.signal = text_of(*exit, "signal");
  }
  return ended;
}

std::string boot_of(const journal::Event& proc) {
  const std::string boot = text_of(proc.data, "boot");
  return boot.empty() && proc.node_time ? proc.node_time->boot : boot;
}

}  // namespace

std::string Ended::text() const {
  switch (how) {
    case How::kCode:
      return fmt::format("exit {}", code);
    case How::kSignal:
      return "killed by " + signal;
    case How::kUnknown:
      break;
  }
  return "exit unknown";
}

std::string Process::text() const {
  return fmt::format("{} pid {}{}{} at {}", part.empty() ? "process" : part, pid,
                     seat.empty() ? "" : " of ", seat, node);
}

void Processes::add(const journal::Event& proc, Span when) {
  const auto pid = integer_of(proc.data, "pid");
  if (!pid) return;
  if (text_of(proc.data, "edge") == "exited") {
    exited(proc, *pid, when);
    return;
  }
  const std::int64_t start = integer_of(proc.data, "start").value_or(0);
  const std::string boot = boot_of(proc);
  const auto [found, added] = index_.try_emplace({proc.node, boot, *pid, start}, all_.size());
  if (added) {
    Process fresh;
    fresh.node = proc.node, fresh.boot = boot, fresh.pid = *pid, fresh.start = start;
    fresh.started = when, fresh.started_seq = proc.seq;
    all_.push_back(std::move(fresh));
  }
  Process& process = all_[found->second];
  // A name may come later than the process: a child is named when its command line is known.
  for (const auto& [key, into] :
       {std::pair{"part", &process.part}, {"seat", &process.seat}, {"cmd", &process.command}}) {
    if (const std::string text = text_of(proc.data, key); !text.empty()) *into = text;
  }
  if (text_of(proc.data, "edge") == "gone") {
    process.gone = when, process.gone_seq = proc.seq;
    if (field(proc.data, "exit") != nullptr) process.ended = ended_from(proc.data);
  } else {
    process.samples.push_back(
        {proc.seq, when, text_of(proc.data, "state"), integer_of(proc.data, "cpu_ms")});
  }
}

void Processes::exited(const journal::Event& proc, std::int64_t pid, Span when) {
  const std::string boot = boot_of(proc), part = text_of(proc.data, "part");
  Process* latest = nullptr;
  for (Process& process : all_) {
    const bool same = process.node == proc.node && process.boot == boot && process.pid == pid &&
                      (process.part.empty() || part.empty() || process.part == part);
    if (same && process.ended.how == Ended::How::kUnknown) latest = &process;
  }
  if (latest == nullptr) {
    latest = &all_.emplace_back();
    latest->node = proc.node, latest->boot = boot, latest->pid = pid;
    latest->part = part, latest->seat = text_of(proc.data, "seat");
    latest->started = {kUnknownPast, when.hi}, latest->started_seq = proc.seq;
    latest->gone = Span{kUnknownPast, when.hi}, latest->gone_seq = proc.seq;
  }
  latest->ended = ended_from(proc.data);
  latest->exit_seq = proc.seq;
}

const Process* Processes::find(const std::string& node, std::int64_t pid,
                               std::int64_t start) const {
  for (const Process& process : all_) {
    if (process.node == node && process.pid == pid && process.start == start) return &process;
  }
  return nullptr;
}

}  // namespace unplug::check
