#!/bin/sh
# process_kill: a signal that ends the victim, or the victim and its descendants. Nothing to undo.
#
# The prelude has found the victim when fire runs: $process_pid, $process_start, $process_boot.
# It knows processes on either platform, so darwin.sh is this file.
# shellcheck disable=SC2154 # the prelude sets what it answers

# Only signals that end a process can be proven by its end; STOP is process_freeze.
check_signal() {
  case ${UNPLUG_SIGNAL:-KILL} in
  KILL | TERM | INT | HUP | QUIT | ABRT | SEGV | BUS | PIPE | USR1 | USR2 | ALRM) ;;
  *) cannot "process_kill: '$UNPLUG_SIGNAL' is no signal that ends a process (KILL, TERM, INT, HUP, QUIT, ABRT, SEGV, BUS, PIPE, USR1, USR2, ALRM)" ;;
  esac
}

probe() {
  check_signal
  need_tools grep tr sed
  facts signal "${UNPLUG_SIGNAL:-KILL}"
}

arm() { check_signal; }

fire() {
  signal=${UNPLUG_SIGNAL:-KILL}
  victims=$process_pid:$process_start
  if [ "${UNPLUG_TREE:-no}" = yes ]; then
    # Twice the same list, then at once: a child that is born in between escapes the signal, and
    # shows as one of the job's processes. Stopping the tree first would close that gap, but would
    # leave it stopped if we were ended just then: a lasting fault has no undo.
    before=none
    tries=0
    while [ "$victims" != "$before" ] && [ "$tries" -lt 5 ]; do
      before=$victims
      descendants "$process_pid"
      victims="$process_pid:$process_start ${tree% }"
      tries=$((tries + 1))
    done
    for one in $victims; do remember "${one%:*}" "${one#*:}" "$process_boot" || return 1; done
    alive "$process_boot" "$process_pid" "$process_start" || not_so "the victim has just ended by itself" || return 1
  fi
  for one in $victims; do
    kill -s "$signal" "${one%:*}" || as_root kill -s "$signal" "${one%:*}" || [ "$one" != "$process_pid:$process_start" ] || return 1
  done
}

# What fire used was a signal; what is looked at here is the list of processes.
verify() {
  [ "$bound" = yes ] || not_so "no victim was bound"
  left=0
  now_state=gone
  if alive "$process_boot" "$process_pid" "$process_start"; then
    left=1
    now_state=$proc_state
  elif stat_of "$process_pid" && [ "$proc_start" = "$process_start" ]; then
    # A zombie has ended: it runs nothing, and its memory, files and sockets are given back.
    # Only the exit status waits there for the parent.
    now_state=$proc_state
  fi
  each_remembered count_left
  facts pid "$process_pid" start "$process_start" state "$now_state" left "$left"
  [ "$left" -eq 0 ] || not_so "$left of the processes still run"
}

count_left() { # PID START BOOT
  if [ "$1" != "$process_pid" ] && alive "$3" "$1" "$2"; then left=$((left + 1)); fi
}

# There is no way back; that nothing is left to undo is always so.
verify_reverted() { facts lasting true; }
