#include "journal/chain.hpp"

#include <utility>

#include "base/boot_clock.hpp"
#include "base/sha256.hpp"
#include "journal/redact.hpp"

namespace unplug::journal {

Event Chain::next(Draft draft) const {
  Event event;
  event.seq = count_ + 1;
  event.prev = prev_;
  event.t = draft.t != 0 ? draft.t : BootClock::now().time_since_epoch().count();
  event.wall = wall_now();
  event.node = std::move(draft.node);
  event.node_time = std::move(draft.node_time);
  event.src = std::move(draft.src);
  event.kind = std::move(draft.kind);
  event.data = std::move(draft.data);
  redact(event);
  return event;
}

void Chain::commit(std::string_view line) {
  prev_ = sha256(line);
  ++count_;
}

}  // namespace unplug::journal
