// No item is worked on by two at once (docs/semantics.md, Claims on a farm).
//
//   double_claim   two names of one item in two consecutive clean snapshots, or in the last one
//   zombie_work    a former holder works on for more than stop_within, awake and connected
//   stale_publish  a former holder publishes: always a fail, even with equal bytes
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "check/checks.hpp"
#include "check/claims.hpp"
#include "check/results.hpp"
#include "check/still.hpp"
#include "check/timing.hpp"

namespace unplug::check {
namespace {

constexpr Duration kStopWithin = std::chrono::seconds{10};
// An observer looks up to a second before a node falls asleep, and some time after it wakes.
constexpr std::int64_t kAroundSleep = 3'000'000'000;

Duration stop_within(const Question& q) {
  if (q.expectation.stop_within) return *q.expectation.stop_within;
  if (q.scenario != nullptr) {
    const auto set = q.scenario->params.find("stop_within");
    if (set != q.scenario->params.end()) {
      if (const auto time = parse_duration(set->second)) return *time;
    }
  }
  for (const scenario::Param& param : q.target.params) {
    if (param.name != "stop_within" || !param.fallback) continue;
    if (const auto time = parse_duration(*param.fallback)) return *time;
  }
  return kStopWithin;
}

// --- double_claim ------------------------------------------------------------------------------

// Item -> the owners of its claims, where there is more than one.
std::map<std::string, std::string> doubled(const Question& q, const ItemSnapshot& snapshot) {
  std::map<std::string, std::map<std::string, std::string>> names;
  for (const ItemEntry& entry : snapshot.items) {
    if (!is_claim(q, entry)) continue;
    names[entry.item][entry.file.empty() ? entry.owner : entry.file] = entry.owner;
  }
  std::map<std::string, std::string> found;
  for (const auto& [item, claims] : names) {
    if (claims.size() < 2) continue;
    std::string owners;
    for (const auto& [name, owner] : claims) owners += (owners.empty() ? "" : " and ") + owner;
    found[item] = owners;
  }
  return found;
}

std::vector<Answer> double_claims(const Question& q) {
  std::vector<Answer> answers;
  std::map<std::string, std::string> before;
  std::map<std::string, bool> told;
  for (const ItemSnapshot& snapshot : q.run.item_snapshots) {
    if (!snapshot.clean) continue;
    const auto now = doubled(q, snapshot);
    const bool final = &snapshot == q.run.items_final();
    for (const auto& [item, owners] : now) {
      if ((!final && !before.contains(item)) || std::exchange(told[item], true)) continue;
      const std::string text = fmt::format("{} held by {} at once (double_claim)", item, owners);
      answers.push_back({Says::kFail, text, {{snapshot.seq, "", text}}});
    }
    before = now;
  }
  return answers;
}

// --- former holders ----------------------------------------------------------------------------

// The claim that a stretch of work began with: a worker says "claimed" when it has the name, so it
// is its owner's last one that may have been taken before that. (An earlier one may be a name that
// a stale claim had for a moment on its way back to the queue.)
const Claim* claim_of(const Question& q, const std::vector<Claim>& claims, const Work& work) {
  const Claim* last = nullptr;
  for (const Claim& claim : claims) {
    if (claim.item != work.item || !is_owner(q.run, claim.owner, work.seat)) continue;
    if (perhaps_before(claim.taken, work.begin)) last = &claim;
  }
  return last;
}

struct Sign {
  std::uint64_t seq = 0;
  Span when;
  std::string text;
};

// What showed that the work went on: frames, and its end, up to the seat's next claim of the item.
std::vector<Sign> signs_of(const Question& q, const Work& work) {
  std::uint64_t next = UINT64_MAX;
  for (const Work& other : q.run.works) {
    const bool again =
        other.item == work.item && other.seat == work.seat && other.begin_seq > work.begin_seq;
    if (again) next = std::min(next, other.begin_seq);
  }
  std::vector<Sign> signs;
  for (const Progress& p : q.run.progress) {
    const bool own = p.seat == work.seat && p.item == work.item && p.seq > work.begin_seq;
    if (own && p.value && p.seq < next) signs.push_back({p.seq, p.when, p.text});
  }
  if (work.end) signs.push_back({work.end_seq, *work.end, work.end_event + " " + work.item});
  return signs;
}

std::optional<Answer> zombie_work(const Question& q, const Work& work, const Claim& claim) {
  const Duration most = stop_within(q);
  const Witness lost{claim.gone_seq, "", work.item + " no longer claimed by " + work.seat};
  std::optional<Answer> worst;
  for (const Sign& sign : signs_of(q, work)) {
    const Span took = awake_time(q, work.seat, Still::kAsleepOrCutOff, *claim.gone, sign.when);
    const Within in = within(took, most);
    if (in == Within::kYes || (worst && worst->says == Says::kFail)) continue;
    const std::string text =
        fmt::format("{} worked on {} for {} after it had lost it, {} is allowed", work.seat,
                    work.item, people(took), people(most.count()));
    const bool sure = in == Within::kNo;
    worst = Answer{sure ? Says::kFail : Says::kCannotTell,
                   text + (sure ? " (zombie_work)" : ": too near to tell"),
                   {lost, {sign.seq, "", sign.text + " by " + work.seat}}};
  }
  return worst;
}

std::optional<Answer> stale_publish(const Question& q, const Work& work, const Claim& claim) {
  if (!work.end || work.end->hi < claim.gone->lo) return std::nullopt;
  const auto results = results_of_baseline(q);
  const std::string text = fmt::format("{} {} by {}", work.item, work.end_event, work.seat);
  const std::vector<Witness> witnesses{
      {claim.gone_seq, "", work.item + " no longer claimed by " + work.seat},
      {work.end_seq, "", text}};
  if (results.empty()) {
    return Answer{Says::kCannotTell,
                  text + ", a former holder: without a baseline nobody knows what is a result",
                  witnesses};
  }
  if (!results.contains(work.end_event)) return std::nullopt;
  if (surely_before(*claim.gone, *work.end)) {
    return Answer{Says::kFail, text + ", who had lost it (stale_publish)", witnesses};
  }
  return Answer{Says::kCannotTell, text + ", perhaps after it had lost it", witnesses};
}

std::vector<Answer> former_holders(const Question& q, const std::vector<Claim>& claims) {
  std::vector<Answer> answers;
  for (const Work& work : q.run.works) {
    const Claim* claim = claim_of(q, claims, work);
    if (claim == nullptr || !claim->gone || claim->finished) continue;
    if (auto zombie = zombie_work(q, work, *claim)) answers.push_back(std::move(*zombie));
    if (auto stale = stale_publish(q, work, *claim)) answers.push_back(std::move(*stale));
  }
  return answers;
}

// --- what was not seen -------------------------------------------------------------------------

// While the file server sleeps nothing happens on it, and nobody can look.
std::vector<Span> watched_windows(const Question& q, const ItemSnapshot& before,
                                  const ItemSnapshot& after) {
  std::vector<Span> windows;
  std::int64_t from = before.taken.hi;
  for (const FaultRecord& fault : q.run.faults) {
    const bool sleeps = fault.fired && fault.cuts == scenario::Cuts::kNode;
    if (!sleeps || fault.node != after.node) continue;
    windows.push_back({from, fault.fired->lo - kAroundSleep});
    from = fault.reverted ? fault.reverted->hi + kAroundSleep : after.taken.lo;
  }
  windows.push_back({from, after.taken.lo});
  std::erase_if(windows, [](Span window) { return window.hi <= window.lo; });
  return windows;
}

std::vector<Answer> unseen(const Question& q) {
  const ItemSnapshot *before = q.run.items_before(), *after = q.run.items_final();
  if (before == nullptr) return {cannot_tell("no clean snapshot says which items there were")};
  if (after == nullptr) return {cannot_tell("there is no clean snapshot of the end")};
  for (const ItemSnapshot& snapshot : q.run.item_snapshots) {
    if (snapshot.when != "poll") continue;
    for (const Span window : watched_windows(q, *before, *after)) {
      if (q.run.coverage.covers(snapshot.node, q.run.observer("files"), window)) continue;
      return {cannot_tell("the items at " + snapshot.node + " were not watched all the time")};
    }
    break;
  }
  for (const auto& [seat, node] : q.run.seats) {
    if (!q.run.coverage.ended(node)) {
      return {cannot_tell("the logs of " + node + " were not watched to the end")};
    }
  }
  return {};
}

}  // namespace

Answer exclusive_claim(const Question& q) {
  const std::vector<Claim> claims = claims_of(q);
  std::vector<Answer> answers = double_claims(q);
  std::ranges::move(former_holders(q, claims), std::back_inserter(answers));
  std::ranges::move(unseen(q), std::back_inserter(answers));
  if (claims.empty()) answers.push_back(cannot_tell("no item was ever seen claimed"));
  if (!answers.empty()) return worst_of(answers);
  const auto lost = std::ranges::count_if(
      claims, [](const Claim& claim) { return claim.gone && !claim.finished; });
  return {Says::kPass,
          fmt::format("{} claims, no item held by two at once; {} given up or lost, no work on it "
                      "for more than {}",
                      claims.size(), lost, people(stop_within(q).count())),
          {{q.run.items_final()->seq, "", "the final snapshot"}}};
}

}  // namespace unplug::check
