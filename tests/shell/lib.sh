#!/bin/sh
# What the shell tests share: a scratch home, runs in it, processes held by pid and start time and
# ended by them, waits for a condition with a deadline.
#
# A test is written once and run under both shells that a node may have: each_shell calls its
# function `cases` with $sh set to "dash", then to "bash --posix".
# shellcheck disable=SC2034,SC2154 # tests read what is set here

set -u
root=${UNPLUG_ROOT:-$(cd "$(dirname "$0")/../.." && pwd)}
scratch=$(mktemp -d "${TMPDIR:-/tmp}/unplug-shell.XXXXXX")
HOME=$scratch/home
export HOME
mkdir "$HOME"
failures=$scratch/failures
held=$scratch/held
: >"$held"
unset SSH_CONNECTION
# shellcheck source=injectors/sh/prelude.sh
. "$root/injectors/sh/prelude.sh"

# Whatever happens: the processes that we started are ended, by pid and start time.
finish() {
  status=$?
  trap - EXIT
  boot_of_node
  for record in "$scratch"/home/.unplug/*/procs/[0-9]* "$held" "$scratch"/home*/.unplug/*/*/guard.*/owner "$scratch"/home*/.unplug/*/*/guard.*/children; do
    [ -f "$record" ] || continue
    while read -r w1 w2 w3 w4 _; do
      case $record in
      */procs/*) set -- "$w3" "$w4" ;;
      *) set -- "$w2" "$w3" ;;
      esac
      if alive "$boot_id" "$1" "$2"; then end_tree "$1"; fi
    done <"$record"
  done
  rm -rf "$scratch"
  exit "$status"
}
trap finish EXIT
trap 'exit 130' INT TERM HUP

# hold PID: ended at the end, if it still is that process.
hold() {
  stat_of "$1" || return 0
  boot_of_node
  printf '%s %s %s\n' "$boot_id" "$1" "$proc_start" >>"$held"
}

# fail TEXT...: notes it and goes on, so that one run tells all. passed_all ends the test.
fail() {
  printf 'FAILED (%s): %s\n' "${sh:-}" "$*" | tee -a "$failures"
}
passed_all() {
  if [ -s "$failures" ]; then
    echo "$(wc -l <"$failures") failed"
    exit 1
  fi
  echo "all passed"
}

# expect TEXT COMMAND...: the command says yes.
expect() {
  expect_text=$1
  shift
  "$@" || fail "$expect_text"
}
expect_not() {
  expect_text=$1
  shift
  if "$@"; then fail "$expect_text"; fi
}
equal() {
  [ "$2" = "$3" ] || fail "$1: expected '$2', got '$3'"
}

# eventually SECONDS COMMAND...: a condition with a deadline, never a sleep and a hope.
eventually() {
  eventually_left=$(($1 * 20))
  shift
  until "$@"; do
    eventually_left=$((eventually_left - 1))
    [ "$eventually_left" -gt 0 ] || return 1
    sleep 0.05
  done
}
said() { grep -q "$2" "$1" 2>/dev/null; } # FILE PATTERN
exists() { [ -e "$1" ]; }
gone() { ! alive "$boot_id" "$1" "$2"; }
is_stopped() { stat_of "$1" && [ "$proc_state" = T ]; }
is_running() { stat_of "$1" && [ "$proc_state" != T ] && [ "$proc_state" != Z ]; }

each_shell() {
  each_any=no
  for sh in dash "bash --posix"; do
    command -v "${sh%% *}" >/dev/null || continue
    each_any=yes
    UNPLUG_SH=$sh
    export UNPLUG_SH
    cases
  done
  [ "$each_any" = yes ] || exit 77
  passed_all
}

# new_run NAME: a run's folder as the controller uploads it; becomes the working directory.
new_run() {
  run=$HOME/.unplug/$1
  mkdir -p "$run/injectors" "$run/procs" "$run/logs"
  cp -R "$root/injectors/sh" "$run/sh"
  for new_injector in "$root"/injectors/*/; do
    [ "$new_injector" = "$root/injectors/sh/" ] || cp -RL "$new_injector" "$run/injectors/"
  done
  cd "$run" || exit 99
}

verb() { $sh sh/verb.sh "$@"; }

# start_part PART SEAT COMMAND...: through rank.sh, as a target does; sets $part_pid.
start_part() {
  $sh sh/rank.sh "$@" </dev/null >/dev/null 2>&1 &
  part_pid=$!
  eventually 10 exists "procs/$part_pid" || fail "rank.sh did not record $1 of $2"
  hold "$part_pid"
}

# aim INJECTOR FAULT PART SEAT [FOUND]: the VARS of a process injector.
aim() {
  injector=$1
  UNPLUG_FAULT=$2 UNPLUG_ROLE=victim UNPLUG_ROOT_BY=none UNPLUG_TREE=${tree_too:-no}
  UNPLUG_PROCESS="$3 ${4##*-}" UNPLUG_PROCESS_PART=$3 UNPLUG_PROCESS_SEAT=$4 UNPLUG_PROCESS_FOUND=${5:-record}
  export UNPLUG_FAULT UNPLUG_ROLE UNPLUG_ROOT_BY UNPLUG_TREE
  export UNPLUG_PROCESS UNPLUG_PROCESS_PART UNPLUG_PROCESS_SEAT UNPLUG_PROCESS_FOUND
}

# open_guard LEASE HARD: a guard on a channel: we hold its stdin at 8, cat takes its stdout.
open_guard() {
  channel=$scratch/channel.$UNPLUG_FAULT.${run##*/}
  mkdir "$channel"
  mkfifo "$channel/in" "$channel/out"
  cat "$channel/out" >"$channel/lines" 8>&- &
  reader=$!
  hold "$reader"
  UNPLUG_LEASE=$1 UNPLUG_HARD=$2 $sh sh/verb.sh "$injector" guard <"$channel/in" >"$channel/out" 2>"$channel/err" 8>&- &
  stub=$!
  hold "$stub"
  exec 8>"$channel/in"
}
armed() { eventually 15 said "$channel/lines" '"armed"'; }
tell_guard() { printf '%s\n' "$@" >&8; }
# The channel is lost: nobody writes, nobody reads.
lose_channel() {
  exec 8>&-
  kill -9 "$reader" 2>/dev/null
}
guard_owner() { read -r _ guard_pid guard_start <"$run/$UNPLUG_FAULT/guard.${1:-1}/owner"; }

heal() { (cd "$HOME" && $sh -s -- "$@" <"$root/injectors/sh/heal.sh"); }

# nothing_left FOLDER: no process of any generation of that fault's guard is there.
nothing_left() {
  for left_file in "$1"/guard.*/owner "$1"/guard.*/children; do
    [ -e "$left_file" ] || continue
    while read -r left_boot left_pid left_start; do
      if alive "$left_boot" "$left_pid" "$left_start"; then return 1; fi
    done <"$left_file"
  done
}
