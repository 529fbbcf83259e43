// Who is who inside the lab's user namespace.
//
// Root: everybody is himself, so that what a run writes keeps its owner. An ordinary user is
// root inside, and the other accounts come from his ranges in /etc/subuid and /etc/subgid.
#pragma once

#include <sys/types.h>

namespace unplug::embedded {

// Throws Error(kInconclusive) unless this user has 65,535 subordinate user and group ids.
void require_sub_ids();

// Called by the parent of the namespace's first process.
void write_user_map(pid_t pid);

// Called by that process afterwards: becomes root inside.
void become_root_inside();

}  // namespace unplug::embedded
