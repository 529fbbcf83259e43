// A script that stands where a real host has util-linux's rtcwake, so that an injector's
// linux.sh need not know that it runs in a lab.
#pragma once

namespace unplug::embedded {

// Asks the node's firmware (sleep.hpp) and, like the real one, returns when the machine is awake
// again. Whether it slept is read from a counter that only waking raises.
extern const char* const kRtcwake;

}  // namespace unplug::embedded
