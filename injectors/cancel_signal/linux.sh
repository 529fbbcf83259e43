#!/bin/sh
# cancel_signal: one signal to the victim, as Ctrl-C or a supervisor's stop is. Nothing to undo.
#
# A process may answer such a signal by ending, or by going on for a while to clear up. Of the
# second the kernel tells no more than this: it is caught, and none waits to be delivered. That the
# signal was sent is noted by fire, after kill took it.
# shellcheck disable=SC2154 # the prelude sets what it answers

# Sets $signal_bit: its place in the masks of /proc/PID/status.
check_signal() {
  case ${UNPLUG_SIGNAL:-INT} in
  HUP) signal_bit=0 ;;
  INT) signal_bit=1 ;;
  QUIT) signal_bit=2 ;;
  USR1) signal_bit=9 ;;
  USR2) signal_bit=11 ;;
  TERM) signal_bit=14 ;;
  *) cannot "cancel_signal: nobody cancels with '$UNPLUG_SIGNAL' (HUP, INT, QUIT, USR1, USR2, TERM)" ;;
  esac
}

probe() {
  check_signal
  need_tools grep tr sed
  facts signal "${UNPLUG_SIGNAL:-INT}"
}

arm() { check_signal; }

fire() {
  kill -s "${UNPLUG_SIGNAL:-INT}" "$process_pid" || as_root kill -s "${UNPLUG_SIGNAL:-INT}" "$process_pid" || return 1
  remember sent "$process_pid" "$process_start"
}

verify() {
  check_signal
  [ "$bound" = yes ] || not_so "no victim was bound"
  signal_sent=no
  each_remembered note_sent
  read_masks
  facts pid "$process_pid" start "$process_start" signal "${UNPLUG_SIGNAL:-INT}" sent "$signal_sent" fate "$signal_fate"
  [ "$signal_sent" = yes ] || not_so "no signal was sent" || return 1
  case $signal_fate in
  ended | caught) ;;
  *) not_so "${UNPLUG_SIGNAL:-INT} was not delivered: the process has it $signal_fate" ;;
  esac
}
note_sent() { # sent PID START
  [ "$2 $3" != "$process_pid $process_start" ] || signal_sent=yes
}

# Sets $signal_fate: ended, pending (it blocks it, or is stopped), ignored, caught or default.
read_masks() {
  signal_fate=ended
  alive "$process_boot" "$process_pid" "$process_start" || return 0
  signal_pending=0 signal_ignored=0 signal_caught=0
  {
    while read -r mask_name mask_value; do
      case $mask_name in
      SigPnd: | ShdPnd:) ! has_signal "$mask_value" || signal_pending=1 ;;
      SigIgn:) ! has_signal "$mask_value" || signal_ignored=1 ;;
      SigCgt:) ! has_signal "$mask_value" || signal_caught=1 ;;
      esac
    done <"/proc/$process_pid/status"
  } 2>/dev/null || return 0 # it has just ended
  signal_fate=default       # it ends of it in a moment
  [ $signal_caught -eq 0 ] || signal_fate=caught
  [ $signal_ignored -eq 0 ] || signal_fate=ignored
  [ $signal_pending -eq 0 ] || signal_fate=pending
}

# The low 16 signals are the last four of the mask's digits.
has_signal() { [ $(((0x${1#????????????} >> signal_bit) & 1)) -eq 1 ]; }

# There is no way back; that nothing is left to undo is always so.
verify_reverted() { facts lasting true; }
