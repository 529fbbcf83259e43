// What a run tells people while it goes: one line a fact; on a terminal also one live line.
#pragma once

#include <functional>
#include <string>

namespace unplug::run {

class Progress {
 public:
  virtual ~Progress() = default;
  virtual void fact(const std::string& topic, const std::string& text) = 0;  // stays
  virtual void now(const std::string& text) = 0;  // what is being waited for; replaced by the next
};

}  // namespace unplug::run
