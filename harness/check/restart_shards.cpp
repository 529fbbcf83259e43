// restart_point of a sharded target: the greatest step whose manifest is complete on every rank,
// all files hashed again by `unplug`; the target's own pointer names it; the first step of the
// resumed run is the next one, and every later step occurs once.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "check/checks.hpp"
#include "check/timing.hpp"

namespace unplug::check {
namespace {

std::optional<std::int64_t> step_of(const Said& said, const std::string& field) {
  const auto found = said.fields.find(field);
  if (found == said.fields.end() || found->second.empty()) return std::nullopt;
  char* end = nullptr;
  const std::int64_t step = std::strtoll(found->second.c_str(), &end, 10);
  return *end == '\0' ? std::optional(step) : std::nullopt;
}

struct Step {
  std::int64_t number = 0;
  const Said* said = nullptr;
};

class ShardRestart {
 public:
  explicit ShardRestart(const Question& q) : q_(q) {
    const scenario::EventPattern* step = q.target.event("step");
    if (step != nullptr) counter_ = step->progress;
  }

  Answer answer() {
    const auto recover = q_.run.phases.find("recover");
    if (recover == q_.run.phases.end() || !recover->second.begin) {
      return {Says::kSkipped, "recover never ran: there was nothing to restart", {}};
    }
    const auto point = complete_step();
    if (!point) return *failed_;
    if (const auto wrong = pointer(*point)) return *wrong;
    if (const auto wrong = resumed(*point, *recover->second.begin)) return *wrong;
    if (const auto wrong = lost(*point)) return *wrong;
    return {Says::kPass, fmt::format("went on from step {}, none skipped or done twice", *point),
            witnesses_};
  }

 private:
  // Step -> rank -> all of its files are there as listed.
  std::map<std::int64_t, std::map<std::string, bool>> manifests() const {
    std::map<std::int64_t, std::map<std::string, bool>> all;
    for (const CheckpointFile& file : q_.run.checkpoints) {
      if (file.pointer || !file.step || file.when != "settled") continue;
      const bool holds = !file.sha.empty() && file.sha == file.listed;
      const auto [found, first] = all[*file.step].try_emplace(file.seat, holds);
      if (!first) found->second = found->second && holds;
    }
    return all;
  }

  std::optional<std::int64_t> complete_step() {
    const auto all = manifests();
    std::set<std::string> ranks;
    for (const auto& [step, of] : all) {
      for (const auto& [seat, holds] : of) ranks.insert(seat);
    }
    for (auto step = all.rbegin(); step != all.rend(); ++step) {
      const bool whole = step->second.size() == ranks.size() &&
                         std::ranges::all_of(step->second, [](const auto& r) { return r.second; });
      if (!whole) continue;
      for (const CheckpointFile& file : q_.run.checkpoints) {
        if (!file.pointer && file.step == step->first) {
          witnesses_.push_back({file.seq, "", file.path + " of " + file.seat + " as listed"});
        }
      }
      return step->first;
    }
    failed_ = all.empty() ? cannot_tell("no checkpoint was read before recover")
                          : Answer{Says::kFail, "no step is complete on every rank", {}};
    return std::nullopt;
  }

  std::optional<Answer> pointer(std::int64_t point) {
    bool any = false;
    for (const CheckpointFile& file : q_.run.checkpoints) {
      if (!file.pointer || file.when != "settled") continue;
      any = true;
      const std::string says = fmt::format(
          "{} names {}", file.path, file.step ? "step " + std::to_string(*file.step) : "no step");
      if (file.step != point) {
        return Answer{Says::kFail,
                      fmt::format("{}, complete is step {}", says, point),
                      {{file.seq, "", says}}};
      }
      witnesses_.push_back({file.seq, "", says});
    }
    if (!any) return cannot_tell("what the target itself would go on from was not read");
    return std::nullopt;
  }

  // Steps that a seat said after recover began.
  std::optional<Answer> resumed(std::int64_t point, Span recover) {
    std::map<std::string, std::vector<Step>> steps;
    bool open = false;  // clocks leave open on which side of recover a step was made
    for (const Said& said : q_.run.said) {
      if (said.event != "step" || said.when.hi < recover.lo) continue;
      if (!surely_before(recover, said.when)) {
        open = true;
        continue;
      }
      if (const auto number = step_of(said, counter_)) steps[said.seat].push_back({*number, &said});
    }
    const Says wrong = open ? Says::kCannotTell : Says::kFail;
    if (steps.empty()) return Answer{wrong, "no step was made after recover", {}};
    for (const auto& [seat, made] : steps) {
      std::int64_t next = point + 1;
      for (const Step& step : made) {
        const std::string text =
            fmt::format("{} made step {}, step {} was next", seat, step.number, next);
        if (step.number != next) return Answer{wrong, text, {{step.said->seq, "", text}}};
        ++next;
      }
      witnesses_.push_back({made.front().said->seq, "", seat + ": " + made.front().said->text});
    }
    return std::nullopt;
  }

  // Steps reported before the first of the faults was seen to be in effect, beyond the point.
  std::optional<Answer> lost(std::int64_t point) const {
    if (!q_.expectation.lost_at_most) return std::nullopt;
    std::int64_t sure = 0, perhaps = 0;
    for (const FaultRecord* fault : q_.faults) {
      if (!fault->in_effect)
        return cannot_tell("when " + fault->instance + " was seen is not known");
      const Span seen{fault->in_effect->lo, fault->in_effect->lo};
      for (const Said& said : q_.run.said) {
        const auto number = said.event == "step" ? step_of(said, counter_) : std::nullopt;
        if (!number) continue;
        if (surely_before(said.when, seen)) sure = std::max(sure, *number - point);
        if (perhaps_before(said.when, seen)) perhaps = std::max(perhaps, *number - point);
      }
    }
    const int most = *q_.expectation.lost_at_most;
    const std::string text = fmt::format("{} steps lost, {} allowed", perhaps, most);
    if (sure > most) return Answer{Says::kFail, text, witnesses_};
    if (perhaps > most) return Answer{Says::kCannotTell, text + ": too near to tell", witnesses_};
    return std::nullopt;
  }

  const Question& q_;
  std::string counter_;
  std::optional<Answer> failed_;
  std::vector<Witness> witnesses_;
};

}  // namespace

Answer restart_of_shards(const Question& q) { return ShardRestart(q).answer(); }

}  // namespace unplug::check
