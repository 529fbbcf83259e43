#!/bin/sh
# process_freeze: SIGSTOP to the victim, or to it and its descendants; undo lets exactly those go on.
#
# The prelude has found the victim when fire runs: $process_pid, $process_start, $process_boot.
# It knows processes on either platform, so darwin.sh is this file.
# shellcheck disable=SC2154 # the prelude sets what it answers

probe() {
  need_tools grep tr sed
  facts tree "${UNPLUG_TREE:-no}"
}

arm() { :; }

# SAFETY: noted before it is stopped, and only if it was not stopped before us: what someone else
# has stopped stays stopped. Test: process_injectors.test.
stop_one() { # PID START
  alive "$process_boot" "$1" "$2" || return 0
  [ "$proc_state" != T ] || return 0
  remember "$1" "$2" "$process_boot" || return 1
  kill -STOP "$1" || as_root kill -STOP "$1"
}

fire() {
  if stopped "$process_boot" "$process_pid" "$process_start"; then
    not_so "the victim (pid $process_pid) is stopped already, and not by us"
    return 1
  fi
  stop_one "$process_pid" "$process_start" || return 1
  [ "${UNPLUG_TREE:-no}" = yes ] || return 0
  # From the top down, until a look finds nobody new: a process that runs can still fork.
  seen=none tree=
  while [ "$seen" != "$tree" ]; do
    seen=$tree
    descendants "$process_pid"
    for one in $tree; do stop_one "${one%:*}" "${one#*:}" || return 1; done
  done
}

verify() {
  [ "$bound" = yes ] || not_so "no victim was bound"
  running=
  if ! stopped "$process_boot" "$process_pid" "$process_start"; then running=$process_pid; fi
  count=1
  if [ "${UNPLUG_TREE:-no}" = yes ]; then
    descendants "$process_pid"
    for one in $tree; do
      alive "$process_boot" "${one%:*}" "${one#*:}" || continue
      count=$((count + 1))
      [ "$proc_state" = T ] || running="$running ${one%:*}"
    done
  fi
  if ! alive "$process_boot" "$process_pid" "$process_start"; then proc_state=gone; fi
  facts pid "$process_pid" start "$process_start" state "$proc_state" processes "$count" running "${running# }"
  [ -z "$running" ] || not_so "not stopped:$running"
}

revert() { each_remembered go_on; }
go_on() { # PID START BOOT
  stopped "$3" "$1" "$2" || return 0
  kill -CONT "$1" || as_root kill -CONT "$1"
}

# A process that is gone is not stopped any more: nothing of ours is left on it.
verify_reverted() {
  still=
  each_remembered note_stopped
  facts stopped "${still# }"
  [ -z "$still" ] || not_so "still stopped:$still; by hand: kill -CONT$still"
}
note_stopped() { # PID START BOOT
  if stopped "$3" "$1" "$2"; then still="$still $1"; fi
}
