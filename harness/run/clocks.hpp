// Where each node's continuous clock stands against ours, with its error.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace unplug::run {

// A round trip: the node's clock read `nt` somewhere between our `t0` and `t1` (all ns).
struct RoundTrip {
  std::int64_t t0 = 0, nt = 0, t1 = 0;
  std::string boot;
};

class Clocks {
 public:
  void measured(const std::string& node, const RoundTrip& trip);

  struct Bounds {
    std::int64_t earliest = 0, latest = 0;
  };
  // Our time when the node's clock read `nt` (of this boot); nullopt when nothing is known.
  std::optional<Bounds> ours(const std::string& node, const std::string& boot,
                             std::int64_t nt) const;
  // Half the width of the best round trip, for people.
  std::optional<std::int64_t> error(const std::string& node) const;

 private:
  std::map<std::string, RoundTrip> best_;  // narrowest of the current boot
};

}  // namespace unplug::run
