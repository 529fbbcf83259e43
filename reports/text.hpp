// Text that came from a node, made fit for a terminal or for XML.
#pragma once

#include <string>
#include <string_view>

namespace unplug::reports {

// Control characters become "\xNN" (and "\n", "\t"), bytes that are not UTF-8 and the controls
// of Unicode (C1, bidirectional overrides) U+FFFD; longer than `most` code points is cut.
// SAFETY: nothing from a node reaches the terminal raw.
std::string safe(std::string_view text, std::size_t most = 160);

// For XML text and attributes; what XML 1.0 cannot hold becomes visible text, as in `safe`.
std::string xml(std::string_view text);

}  // namespace unplug::reports
