// When a node was really looked at. An absence is judged only inside coverage.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "check/clocks.hpp"
#include "journal/event.hpp"

namespace unplug::check {

class Coverage {
 public:
  void add(const journal::Event& observer, const Clocks& clocks);  // of kind `observer`
  // The last thing any observer of a node said; ends coverage where no `end` was written.
  void heard(const std::string& node, Span when);

  // Was the observer looking all the time? Ends of coverage are taken at their worst.
  bool covers(const std::string& node, const std::string& observer, Span window) const;
  bool ended(const std::string& node) const;
  // Where the observer was blind just before `when`: the earliest that it may have missed.
  std::optional<Span> gap_before(const std::string& node, Span when) const;

 private:
  struct Watch {
    std::optional<Span> begin, end;
    std::vector<Span> gaps;  // from the earliest to the latest that they may cover
  };
  static bool covers(const Watch& watch, Span window, std::optional<Span> heard);

  std::map<std::string, std::map<std::string, std::vector<Watch>>> nodes_;  // node, observer
  std::map<std::string, Span> heard_;
};

// The observer id that stands for all of a node's observers: one process does them all.
inline constexpr const char* kAllObservers = "all";

}  // namespace unplug::check
