// Does the launcher's exit tell the truth about its ranks? It must not be 0 when a rank was killed
// by our fault or failed by itself. An unknown exit neither satisfies nor violates.
#include <fmt/format.h>

#include <algorithm>

#include "check/checks.hpp"
#include "check/timing.hpp"

namespace unplug::check {
namespace {

// A rank, whoever it is: a process of the job that its launcher speaks for.
bool is_rank(const Question& q, const Process& process) {
  return main_part(q, process) && process.part != q.target.launcher;
}

bool killed_by(const std::vector<const FaultRecord*>& faults, const Process& process) {
  return std::ranges::any_of(faults, [&](const FaultRecord* fault) {
    return fault->lasting && fault->confirmed && is_victim(*fault, process);
  });
}

Answer judge(const Question& q, const Process& launcher) {
  const std::string said = launcher.text() + " ended: " + launcher.ended.text();
  const Witness exit{launcher.gone_seq, "", said};
  if (launcher.ended.how == Ended::How::kUnknown) return {Says::kCannotTell, said, {exit}};
  std::vector<Answer> ranks;
  for (const Process& process : q.run.processes.all()) {
    if (!is_rank(q, process)) continue;
    if (process.gone && surely_before(ended_by_us(q.run), *process.gone)) continue;
    const std::string how = process.text() + " ended: " + process.ended.text();
    const Witness witness{process.gone ? process.gone_seq : process.started_seq, "", how};
    if (killed_by(q.faults, process)) {
      ranks.push_back({Says::kFail, process.text() + " was killed by our fault", {witness}});
    } else if (!process.gone || process.ended.how == Ended::How::kUnknown) {
      ranks.push_back({Says::kCannotTell, how, {}});
    } else if (!process.ended.zero()) {
      ranks.push_back({Says::kFail, how, {witness}});
    }
  }
  if (!launcher.ended.zero()) return {Says::kPass, said, {exit}};
  if (ranks.empty()) return {Says::kPass, said + ", and so did every rank", {exit}};
  Answer answer = worst_of(ranks);
  answer.text = said + (answer.says == Says::kFail ? ", although " : ", but ") + answer.text;
  answer.witnesses.insert(answer.witnesses.begin(), exit);
  return answer;
}

}  // namespace

Answer honest_exit(const Question& q) {
  std::vector<Answer> answers;
  for (const Process& process : q.run.processes.all()) {
    if (process.part != q.target.launcher || q.target.launcher.empty() || !process.gone) continue;
    if (surely_before(ended_by_us(q.run), *process.gone)) continue;
    answers.push_back(judge(q, process));
  }
  if (answers.empty()) {
    return {Says::kCannotTell, "no launcher was seen to end before we stopped the target", {}};
  }
  return worst_of(answers);
}

}  // namespace unplug::check
