#include "check/claims.hpp"

#include <algorithm>

namespace unplug::check {
namespace {

class Timeline {
 public:
  explicit Timeline(const Question& q) : q_(q) {}

  std::vector<Claim> read() {
    for (const ItemSnapshot& snapshot : q_.run.item_snapshots) {
      if (!snapshot.clean) continue;
      end_those_gone(snapshot);
      for (const ItemEntry& entry : snapshot.items) hold(entry, snapshot);
      last_ = &snapshot;
    }
    return std::move(claims_);
  }

 private:
  static bool shows(const ItemSnapshot& snapshot, const Claim& claim) {
    return std::ranges::any_of(snapshot.items, [&](const ItemEntry& entry) {
      return entry.item == claim.item && entry.owner == claim.owner && entry.file == claim.name;
    });
  }

  // Since the look before; the first look of all says nothing of when.
  Span since_last(const ItemSnapshot& snapshot) const {
    return {last_ == nullptr ? kUnknownPast : std::min(last_->taken.lo, snapshot.taken.hi),
            snapshot.taken.hi};
  }

  void end_those_gone(const ItemSnapshot& snapshot) {
    for (Claim& claim : claims_) {
      if (claim.gone || shows(snapshot, claim)) continue;
      claim.gone = since_last(snapshot);
      claim.gone_seq = snapshot.seq;
      const auto states = snapshot.states_of(claim.item);
      claim.finished = std::ranges::any_of(
          states, [&](const std::string& state) { return terminal_state(q_.target, state); });
    }
  }

  void hold(const ItemEntry& entry, const ItemSnapshot& snapshot) {
    if (!is_claim(q_, entry)) return;
    const bool held = std::ranges::any_of(claims_, [&](const Claim& claim) {
      return !claim.gone && claim.item == entry.item && claim.owner == entry.owner &&
             claim.name == entry.file;
    });
    if (held) return;
    Claim& claim = claims_.emplace_back();
    claim.item = entry.item, claim.owner = entry.owner, claim.name = entry.file;
    claim.taken = since_last(snapshot);
    claim.taken_seq = snapshot.seq;
  }

  const Question& q_;
  const ItemSnapshot* last_ = nullptr;
  std::vector<Claim> claims_;
};

}  // namespace

bool is_claim(const Question& q, const ItemEntry& entry) {
  if (entry.owner.empty() || terminal_state(q.target, entry.state)) return false;
  // Before the workload is handed in, the folder may hold what is not ours.
  const ItemSnapshot* before = q.run.items_before();
  return before == nullptr || q.run.handed_in.contains(entry.item);
}

std::vector<Claim> claims_of(const Question& q) { return Timeline(q).read(); }

bool is_owner(const History& run, const std::string& owner, const std::string& seat) {
  const std::string node = run.node_of(seat);
  if (owner == seat || owner == node) return true;
  const auto host = run.hostnames.find(node);
  if (host == run.hostnames.end() || host->second.empty()) return false;
  return owner == host->second || owner == host->second.substr(0, host->second.find('.'));
}

}  // namespace unplug::check
