// rides_through: no rank exits, no work is lost, and progress comes back in time after the
// verified revert (after fire, where nothing is reverted).
// unaffected: the same, and nobody had to do anything twice; progress goes on after fire.
#include <fmt/format.h>

#include "check/checks.hpp"
#include "check/timing.hpp"

namespace unplug::check {
namespace {

std::optional<Answer> harmed(const Question& q, const FaultRecord& fault) {
  std::vector<Answer> answers;
  if (const auto exits = exits_after(q, fault)) answers.push_back(*exits);
  if (const auto lost = items_lost(q)) answers.push_back(*lost);
  if (answers.empty()) return std::nullopt;
  return worst_of(answers);
}

// "Nobody ended" means something only where the observer had its last look.
std::optional<Answer> unwatched(const Question& q) {
  for (const auto& [seat, node] : q.run.seats) {
    if (q.run.coverage.ended(node)) continue;
    return Answer{Says::kCannotTell, "processes of " + node + " were not watched to the end", {}};
  }
  return std::nullopt;
}

std::optional<Answer> done_twice(const Question& q, const FaultRecord& fault) {
  for (const Work& work : q.run.works) {
    if (!perhaps_before(*fault.fired, work.begin)) continue;
    for (const Work& other : q.run.works) {
      const bool again = other.item == work.item && other.begin_seq < work.begin_seq;
      if (!again) continue;
      const std::string text = fmt::format("{} was begun again by {}", work.item, work.seat);
      return Answer{Says::kFail,
                    text,
                    {{other.begin_seq, "", work.item + " begun by " + other.seat},
                     {work.begin_seq, "", text}}};
    }
  }
  return std::nullopt;
}

Answer settled(const Question& q, const FaultRecord& fault, Span from) {
  if (const auto harm = harmed(q, fault)) return *harm;
  if (const auto blind = unwatched(q)) return *blind;
  return progressed(q, fault, from);
}

}  // namespace

Answer rides_through(const Question& q, const FaultRecord& fault) {
  if (fault.lasting) return settled(q, fault, *fault.fired);
  if (const auto harm = harmed(q, fault); harm && harm->says == Says::kFail) return *harm;
  if (!fault.reverted) {
    return {Says::kCannotTell, fault.instance + ": its revert was never verified", {}};
  }
  return settled(q, fault, *fault.reverted);
}

Answer unaffected(const Question& q, const FaultRecord& fault) {
  if (const auto twice = done_twice(q, fault)) return *twice;
  return settled(q, fault, *origin(q, fault));
}

}  // namespace unplug::check
