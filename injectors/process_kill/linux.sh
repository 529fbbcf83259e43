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
    note_outlived "$process_pid"
  elif stat_of "$process_pid" && [ "$proc_start" = "$process_start" ]; then
    # A zombie has ended: it runs nothing, and its memory, files and sockets are given back.
    # Only the exit status waits there for the parent.
    now_state=$proc_state
  fi
  each_remembered count_left
  facts pid "$process_pid" start "$process_start" state "$now_state" left "$left"
  [ "$left" -eq 0 ] || not_so "$left of the processes still run" || return 1
  [ ! -e "$fault_folder/outlived" ] || not_so "it ran on after the signal: its end now is not ours"
}

# A KILL that was sent is pending, or its process is on its way out, for as long as it can be seen.
# A process that runs without either at two looks was not hit, and its own end later proves nothing.
# Two, since between taking the signal and leaving there is a moment with neither.
# Test: process_injectors.test.
note_outlived() { # PID
  [ "${UNPLUG_SIGNAL:-KILL}" = KILL ] && [ -e "$fault_folder/fired" ] || return 0
  if signal_at_work "$1"; then return 0; fi
  if [ -e "$fault_folder/outlived-once" ]; then : >"$fault_folder/outlived"; fi
  : >"$fault_folder/outlived-once"
}

# True also where the system does not say (no /proc).
signal_at_work() { # PID
  { read -r kill_line <"/proc/$1/stat"; } 2>/dev/null || return 0
  # shellcheck disable=SC2086 # split on purpose
  set -- "$1" ${kill_line##*) }
  [ $(($8 & 4)) -eq 0 ] || return 0 # PF_EXITING
  while read -r kill_word kill_set; do
    case $kill_word:$kill_set in SigPnd:*[13579bdf]?? | ShdPnd:*[13579bdf]??) return 0 ;; esac
  done 2>/dev/null <"/proc/$1/status"
  return 1
}

count_left() { # PID START BOOT
  if [ "$1" != "$process_pid" ] && alive "$3" "$1" "$2"; then left=$((left + 1)); fi
}

# There is no way back; that nothing is left to undo is always so.
verify_reverted() { facts lasting true; }
