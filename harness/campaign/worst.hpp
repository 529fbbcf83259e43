// Which of two exits a command of many runs ends with.
#pragma once

#include "base/error.hpp"

namespace unplug::campaign {

// docs/semantics.md, Findings and verdicts: unhealed, internal error, interrupted, fail,
// inconclusive, pass. Bad usage ends a command before its first run, and is the worst of all.
Exit worse(Exit a, Exit b);

}  // namespace unplug::campaign
