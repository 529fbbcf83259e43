// How many files this process may have open: each node is a socket.
#pragma once

#include <cstddef>

namespace unplug {

// Makes room for `count` of them: raises the soft limit when it is lower, and touches nothing
// when it is not. Throws when the hard limit is lower still.
void need_open_files(std::size_t count);

// What a run or a heal of so many nodes needs: their sockets, and what else we open.
void need_open_files_for(std::size_t nodes);

}  // namespace unplug
