// fails_clean: all ranks end non-zero in time; who noticed first, and what it said, is named.
// A rank that stays is a hang: busy when it burns CPU, idle when it does not.
#include <fmt/format.h>

#include <algorithm>

#include "check/checks.hpp"
#include "check/hang.hpp"
#include "check/still.hpp"
#include "check/timing.hpp"

namespace unplug::check {
namespace {

// Last sign of life: a sample, or that the observer's last look found it there.
std::optional<Answer> still_there(const Question& q, const Process& process, Span from) {
  if (process.samples.empty()) return std::nullopt;
  const ProcessSample& last = process.samples.back();
  // What we stopped or put to sleep cannot notice anything meanwhile.
  const Span awake = awake_time(q, process.seat, Still::kAsleep, from, last.when);
  if (within(awake, limit(q)) != Within::kNo) return std::nullopt;
  const std::string text = process.text() + " " + hang_of(q, process, from);
  return Answer{Says::kFail,
                fmt::format("{}: alive {} later, {} is allowed", text,
                            people(elapsed(from, last.when).lo), people(limit(q).count())),
                {{last.seq, "", text}}};
}

Answer judge(const Question& q, const FaultRecord& fault, const Process& process, Span from) {
  if (!process.gone) {
    if (const auto stays = still_there(q, process, from)) return *stays;
    return {
        Says::kCannotTell, process.text() + " was not seen to end, nor watched long enough", {}};
  }
  const std::string how = process.text() + " ended: " + process.ended.text();
  const Witness witness{process.gone_seq, "", how};
  Answer timely = in_time(q, elapsed(from, *process.gone), how, {witness});
  if (timely.says == Says::kFail || is_victim(fault, process)) return timely;
  if (process.ended.zero()) return {Says::kFail, how + ", as if all were well", {witness}};
  if (process.ended.how == Ended::How::kUnknown) {
    return {Says::kCannotTell, how, {witness}};
  }
  return timely;
}

std::string last_words(const History& run, const Process& process) {
  std::string words;
  for (const Said& said : run.said) {
    if (said.seat == process.seat && perhaps_before(said.when, *process.gone)) words = said.text;
  }
  return words;
}

// "rank-1 noticed first, after 3 s: ..."; "" when nobody did.
std::string first_to_notice(const Question& q, const FaultRecord& fault, Span from) {
  const Process* first = nullptr;
  for (const Process& process : q.run.processes.all()) {
    const bool counts = main_part(q, process) && process.gone && !is_victim(fault, process) &&
                        process.gone->hi >= from.lo;
    if (counts && (first == nullptr || process.gone->hi < first->gone->hi)) first = &process;
  }
  if (first == nullptr) return "";
  const std::string words = last_words(q.run, *first);
  return fmt::format("; {} noticed first, after {}{}", first->seat,
                     people(elapsed(from, *first->gone)), words.empty() ? "" : ": " + words);
}

}  // namespace

Answer fails_clean(const Question& q, const FaultRecord& fault) {
  const Span from = *origin(q, fault);
  std::vector<Answer> answers;
  for (const Process& process : q.run.processes.all()) {
    const bool alive = process.started.lo <= fault.fired->hi &&
                       (!process.gone || process.gone->hi >= fault.fired->lo);
    if (main_part(q, process) && alive) answers.push_back(judge(q, fault, process, from));
  }
  if (answers.empty()) return {Says::kCannotTell, "no rank was seen alive at the fault", {}};
  Answer answer = worst_of(answers);
  if (answer.says == Says::kPass) answer.text = fmt::format("all {} ended", answers.size());
  answer.text += first_to_notice(q, fault, from);
  return answer;
}

}  // namespace unplug::check
