#include "run/clocks.hpp"

namespace unplug::run {

void Clocks::measured(const std::string& node, const RoundTrip& trip) {
  const auto known = best_.find(node);
  const bool better = known == best_.end() || known->second.boot != trip.boot ||
                      trip.t1 - trip.t0 < known->second.t1 - known->second.t0;
  if (better) best_[node] = trip;
}

std::optional<Clocks::Bounds> Clocks::ours(const std::string& node, const std::string& boot,
                                           std::int64_t nt) const {
  const auto known = best_.find(node);
  if (known == best_.end() || known->second.boot != boot) return std::nullopt;
  const std::int64_t since = nt - known->second.nt;
  return Bounds{known->second.t0 + since, known->second.t1 + since};
}

std::optional<std::int64_t> Clocks::error(const std::string& node) const {
  const auto known = best_.find(node);
  if (known == best_.end()) return std::nullopt;
  return (known->second.t1 - known->second.t0) / 2;
}

}  // namespace unplug::run
