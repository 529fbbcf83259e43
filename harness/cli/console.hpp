// The terminal: a run's progress, coloured and live where it is one, plain lines where not.
#pragma once

#include <string>

#include "base/boot_clock.hpp"
#include "run/progress.hpp"

namespace unplug::cli {

bool stdout_is_terminal();

// Nothing from a node reaches the terminal raw: control characters are shown as \xNN.
std::string printable(const std::string& text);

class Console : public run::Progress {
 public:
  Console();
  ~Console() override;
  void fact(const std::string& topic, const std::string& text) override;
  void now(const std::string& text) override;

 private:
  void clear_live_line();

  BootClock::time_point begun_ = BootClock::now();
  bool terminal_;
  bool live_ = false;
};

}  // namespace unplug::cli
