#!/bin/sh
# The boot sweep: undoes every fault that was armed under another boot id. `enroll` has it run at
# boot, by the user whose ~/.unplug it is; it may run at any time, for a fault of this boot has a
# guard or is heal's.
set -u
umask 077

# shellcheck disable=SC1090,SC1091,SC2154 # written by arm
sweep_fault() { # FAULT'S FOLDER
  (
    . "$1/prelude.sh"
    . "$1/facts"
    boot_of_node
    [ "$boot" != "$boot_id" ] || exit 0
    root=
    if grep -q "^UNPLUG_ROOT_BY='sudo'" "$1/params" && [ "$(id -u)" -ne 0 ]; then root="sudo -n --"; fi
    # The guard goes on until the undo holds: it is not waited for.
    # shellcheck disable=SC2086 # UNPLUG_SH may be "bash --posix": tests run both shells
    new_session $root ${UNPLUG_SH:-sh} "$1/guard.sh" undo sweep </dev/null >/dev/null 2>&1 &
  )
}

for facts in "$HOME"/.unplug/*/*/facts; do
  folder=${facts%/facts}
  [ -e "$facts" ] || continue
  [ -e "$folder/undone" ] || [ -e "$folder/spent" ] || sweep_fault "$folder"
done
