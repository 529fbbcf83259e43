// fails_clean: all ranks end non-zero in time; who noticed first, and what it said, is named.
// A rank that stays is a hang: busy when it burns CPU, idle when it does not.
#include <fmt/format.h>

#include <algorithm>

#include "check/checks.hpp"
#include "check/timing.hpp"

namespace unplug::check {
namespace {

// docs/semantics.md, Hang: of one core, over the time it was watched.
constexpr double kBusy = 0.20, kIdle = 0.05;

std::string hang_class(const Process& process, Span from) {
  const ProcessSample *first = nullptr, *last = nullptr;
  for (const ProcessSample& sample : process.samples) {
    if (!sample.cpu_ms || sample.when.lo < from.hi) continue;
    if (first == nullptr) first = &sample;
    last = &sample;
  }
  if (first == nullptr || last->when.lo <= first->when.hi) return "hangs";
  const double share = static_cast<double>(*last->cpu_ms - *first->cpu_ms) * 1e6 /
                       static_cast<double>(last->when.lo - first->when.lo);
  const char* kind = share >= kBusy ? "hangs busy" : share < kIdle ? "hangs idle" : "hangs";
  return fmt::format("{} ({:.0f} % of a core)", kind, share * 100);
}

// Last sign of life: a sample, or that the observer's last look found it there.
std::optional<Answer> still_there(const Question& q, const Process& process, Span from) {
  if (process.samples.empty()) return std::nullopt;
  const ProcessSample& last = process.samples.back();
  if (within(elapsed(from, last.when), limit(q)) != Within::kNo) return std::nullopt;
  const std::string text = process.text() + " " + hang_class(process, from);
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

// "all 2 ended; rank-1 noticed first after 3 s: ..."
void name_first(const Question& q, const FaultRecord& fault, Span from, std::size_t ranks,
                Answer& answer) {
  const Process* first = nullptr;
  for (const Process& process : q.run.processes.all()) {
    const bool counts = main_part(q, process) && process.gone && !is_victim(fault, process) &&
                        process.gone->hi >= from.lo;
    if (counts && (first == nullptr || process.gone->hi < first->gone->hi)) first = &process;
  }
  if (first == nullptr) return;
  const std::string words = last_words(q.run, *first);
  answer.text = fmt::format("all {} ended; {} noticed first, after {}{}", ranks, first->seat,
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
  if (answer.says == Says::kPass) name_first(q, fault, from, answers.size(), answer);
  return answer;
}

}  // namespace unplug::check
