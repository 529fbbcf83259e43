#!/bin/sh
# The guard of one fault: it owns the undo, and it alone undoes.
#
#   FAULT/guard.sh arm [firer waits, fires on command]   FAULT/guard.sh undo WHY
#
#   channel ──stdin──> firer ──────────┐                       ┌──> forwarder ──stdout──> channel
#   log ──> trigger ──pull──> firer    ├──ctl──> GUARD ──say───┘        │
#            ticker (twice a second) ──┘          ^────────said─────────┘
#
# - The firer is the guard's child. Undo begins with its death (kill -9 and wait), so no fire can
#   follow an undo; then ctl is read to its end, so that all it did is known.
# - The guard itself never reads or writes the channel: a peer that is gone, or that does not read,
#   cannot block or kill it. One line at a time is handed to the forwarder, the next when that was
#   said; what nobody takes is dropped here and stands in guard.log.
# - Only the guard holds ctl's reading end: when the guard dies, whoever writes to it dies too.
# - Undo needs memory only: values and functions are read before `armed`; a full disk costs notes.
# - Generations: mkdir guard.N is atomic; whoever sees a newer one goes at once, without an undo.
#
# Deadlines are hundredths of a second on the node's continuous clock.

# Variables that facts, params and eval set; functions that are called by name; a fifo is no file.
# shellcheck disable=SC2034,SC2154,SC2317,SC2094,SC2119,SC2120

fault_folder=$(cd "${0%/*}" && pwd) || exit 3
run_folder=${fault_folder%/*}
cd "$run_folder" || exit 3
umask 077
# shellcheck source=injectors/sh/prelude.sh
. "$fault_folder/prelude.sh"
# shellcheck source=injectors/sh/interface.sh
. "$fault_folder/interface.sh"
# shellcheck disable=SC1091
. "$fault_folder/injector.sh"
set +eu # nothing that fails here may end the guard

queue=''      # lines for the controller, not yet handed to the forwarder
said=yes      # the forwarder waits for the next one; "deaf": the channel is gone
begun=no      # the fault may be in effect
caught=''     # children to end, each PID:START
trigger=''    # those of them that only feed the firer
background='' # those of them that keep on acting
attempt=0
never=999999999999

# ---- one owner

newest() {
  latest=0
  while [ -d "$fault_folder/guard.$((latest + 1))" ]; do latest=$((latest + 1)); done
}

# SAFETY: two guards would be two undoers. Test: guard_trials.test (three heals at once).
claim() {
  newest
  claim_tries=0
  # The owner is written right after the mkdir; one that has none after 5 s has died between.
  while [ "$latest" -gt 0 ] && [ ! -e "$fault_folder/guard.$latest/owner" ] && [ "$claim_tries" -lt 50 ]; do
    sleep 0.1
    claim_tries=$((claim_tries + 1))
    newest
  done
  if [ "$latest" -gt 0 ] && read -r owner_boot owner_pid owner_start 2>/dev/null <"$fault_folder/guard.$latest/owner" &&
    alive "$owner_boot" "$owner_pid" "$owner_start"; then
    not_so "guard $latest of this fault lives (pid $owner_pid)"
    return 1
  fi
  mine=$((latest + 1))
  generation=$fault_folder/guard.$mine
  mkdir "$generation" 2>/dev/null || not_so "another guard was faster" || return 1
  boot_of_node
  stat_of $$
  printf '%s %s %s\n' "$boot_id" $$ "$proc_start" >"$generation/.owner" && mv "$generation/.owner" "$generation/owner"
  my_start=$proc_start
  end_former
  : # an owner that could not be written costs us the generation, not the undo
}

# SAFETY: a firer that outlived its guard must not fire after our undo.
# Test: guard_trials.test (guard killed -9, guard stopped past its lease).
end_former() {
  former=1
  while [ "$former" -lt "$mine" ]; do
    if [ -e "$fault_folder/guard.$former/children" ]; then
      while read -r former_boot former_pid former_start; do
        alive "$former_boot" "$former_pid" "$former_start" || continue
        end_and_see "$former_pid:$former_start"
      done <"$fault_folder/guard.$former/children"
    fi
    former=$((former + 1))
  done
}

# end_and_see PID:START: ends it with all that it started, of this boot, and waits until none is left: a
# command of theirs that is already in the kernel must not act after our undo.
end_and_see() {
  tree=''
  end_tree "${1%:*}"
  end_tries=0
  for end_one in "$1" $tree; do
    # One that waits in the kernel runs no line of sh again: 10 s are enough to wait.
    while alive "$boot_id" "${end_one%:*}" "${end_one#*:}" && [ "$end_tries" -lt 200 ]; do
      sleep 0.05
      end_tries=$((end_tries + 1))
    done
  done
}

fenced() { [ -d "$fault_folder/guard.$((mine + 1))" ]; }

# ---- pipes and children

# open_ends NAME: a fifo with a reading end at 7 and a writing end at 8, opened without waiting.
open_ends() {
  mkfifo "$generation/$1" || return 1
  exec 9<>"$generation/$1"
  exec 7<"$generation/$1" 8>"$generation/$1"
  exec 9>&-
}

# child PID: notes it, so that the next generation can end it.
child() {
  stat_of "$1" || return 0
  caught="$caught $1:$proc_start"
  printf '%s %s %s\n' "$boot_id" "$1" "$proc_start" >>"$generation/children"
}

# end_child PID:START. It may have ended long ago, and sh may have reaped it at any wait.
end_child() {
  if alive "$boot_id" "${1%:*}" "${1#*:}"; then end_tree "${1%:*}"; fi
  wait "${1%:*}"
} 2>/dev/null

# 0, 1: the channel. 3, 5: ctl's ends. 6: say's writing end. 4: the channel's lines, until the
# firer has them.
# SAFETY: a child closes what is not its own with exec: dash keeps a copy of what a redirection of
# a function closes, and a child with a copy of a reading end would not notice the guard's death.
# Test: guard_trials.test (nothing is left of a killed guard).
open_pipes() {
  exec 4<&0 </dev/null
  open_ends ctl || return 1
  exec 3<&7 5>&8
  open_ends say || return 1
  exec 6>&8 8>&-
  (
    exec <&7 3<&- 4<&- 6>&- 7<&-
    forward
  ) &
  child $!
  exec 7<&- >/dev/null
  (
    exec >&5 3<&- 4<&- 5>&- 6>&-
    ticker
  ) &
  child $!
}

forward() {
  trap '' PIPE
  while IFS= read -r forward_line; do
    printf '%s\n' "$forward_line" 2>/dev/null || {
      echo deaf >&5
      return
    }
    echo said >&5 || return
  done
}

# ---- words

# say JSON: into guard.log, and to the controller as soon as the forwarder is free.
# SAFETY: never blocks: one line of at most 4096 bytes always fits into an empty pipe, and only
# then is it written. Test: guard_trials.test (nobody reads; the reader is gone).
say() {
  printf '%s\n' "$1" 2>/dev/null >>"$fault_folder/guard.log"
  if [ "$said" != deaf ] && [ ${#1} -lt 4096 ] && [ ${#queue} -lt 16384 ]; then
    queue=$queue$1$newline
    hand_over
  fi
}

hand_over() {
  [ "$said" = yes ] && [ -n "$queue" ] || return 0
  said=no
  printf '%s\n' "${queue%%"$newline"*}" >&6
  queue=${queue#*"$newline"}
}

nt() {
  now
  nt=$((now_cs * 10000000))
}

# until_text: $lease_end in seconds.
until_text() {
  until_text=$((lease_end % 100 + 100))
  until_text=$((lease_end / 100)).${until_text#1}
}

# ---- the firer: runs in a child

# Everything between the byte that fires and the deed is a builtin, so that it takes well under a
# millisecond; a part found as a child needs grep.
fire_on_command() {
  tell() { printf '%s\n' "$*" >&5 || exit 0; }
  hold_victim
  tell ready
  while read -r fire_word fire_arg; do
    case $fire_word in
    fire)
      [ "$fired" = no ] || continue
      try_to_fire 2>"$generation/why" || tell "not_fired $now_cs $(last_line "$generation/why")"
      ;;
    renew)
      seconds "$fire_arg" || continue
      now
      lease_end=$((now_cs + centis))
      [ "$lease_end" -le "$hard_end" ] || lease_end=$hard_end
      tell "renew $centis"
      ;;
    revert) tell revert ;;
    esac
  done
}

# SAFETY: refuses when the guard is dead or stopped, and when the lease is over even if the guard
# has not seen it yet. Test: guard_trials.test (late fire, guard stopped past its lease).
try_to_fire() {
  now
  [ "$now_cs" -lt "$lease_end" ] || not_so "the lease is over" || return 1
  # A guard that is gone, its number somebody else's, shows in the next `tell`: nobody reads it.
  state_of $$ || proc_state=gone
  case $proc_state in T | Z | X | gone) not_so "the guard is gone or stopped" || return 1 ;; esac
  found_words=''
  [ -z "$process_params" ] || bind_victims || return 1
  # SAFETY: who takes over after us learns from this file that there is something to undo.
  printf '' >"$fault_folder/fired" || not_so "cannot write to $fault_folder" || return 1
  fired=yes
  tell "${found_words}firing $now_cs" # at once: each word wakes the guard, which takes our CPU
  fire >/dev/null || return 1
  now
  tell "fired $now_cs"
}

# guarded: the guard lives and can undo.
guarded() { alive "$boot_id" $$ "$my_start" && [ "$proc_state" != T ]; }

# in_background FUNCTION (in fire): a fault that goes on acting does so in a child, until the undo.
# Before each act FUNCTION asks `guarded`.
# SAFETY: the child may begin when it stands in the list that a next generation ends; it waits for that
# word, and goes when we are gone. Test: link_flap.test (guard killed -9).
in_background() {
  open_ends background || return 1
  (
    exec <&7 >/dev/null 2>&1 5>&- 7<&- 8>&-
    read -r _ && "$1"
  ) &
  if stat_of $! && printf '%s %s %s\n' "$boot_id" $! "$proc_start" >>"$generation/children"; then
    tell "background $!:$proc_start"
    echo go >&8
  else
    exec 7<&- 8>&-
    not_so "cannot write to $generation"
    return 1
  fi
  exec 7<&- 8>&-
}

# Every process parameter: found, noted on the disk; what the guard is told of it is in $found_words.
# Then fire may look at it.
bind_victims() {
  victims='' found_words=''
  for victim in $process_params; do
    eval "set -- \"\$UNPLUG_${victim%%=*}_PART\" \"\$UNPLUG_${victim%%=*}_SEAT\" \"\$UNPLUG_${victim%%=*}_FOUND\""
    still_held || bind "$1" "$2" "$3" || return 1
    set_victim "${victim#*=}" "$found_pid" "$found_start" "$boot_id"
    victims="$victims$1 $2 $found_pid $found_start $boot_id$newline"
    found_words="${found_words}bound ${victim#*=} $1 $2 $found_pid $found_start$newline"
  done
  printf '%s' "$victims" >"$fault_folder/bound" || not_so "cannot write to $fault_folder"
}

# hold_victim (before it is armed): most faults have one victim, of a recorded part, that is there
# already. Its folder in /proc is kept open: that answers for this very process and no other, whoever
# has its number later, and is asked in a tenth of the time that a search takes.
hold_victim() {
  held=''
  case $process_params in *=*=*) return ;; esac
  victim=${process_params%% *}
  eval "set -- \"\${UNPLUG_${victim%%=*}_PART-}\" \"\${UNPLUG_${victim%%=*}_SEAT-}\" \"\${UNPLUG_${victim%%=*}_FOUND-}\""
  [ "$3" = record ] && [ -e /proc/self/statm ] || return
  bind_record "$1" "$2" 2>/dev/null && exec 9<"/proc/$found_pid" || return
  # Between the search and the opening it may have ended.
  alive "$boot_id" "$found_pid" "$found_start" || return
  held="$found_pid $found_start"
  set -- "$run_folder"/procs/[0-9]*
  held_records=$*
}

# still_held: the victim lives, and nobody was recorded since. One that has ended has no memory.
# SAFETY: anything else is searched anew. Test: process_injectors.test (restarted, a zombie).
still_held() {
  [ -n "$held" ] || return 1
  set -- "$run_folder"/procs/[0-9]*
  [ "$*" = "$held_records" ] || return 1
  { read -r held_pages _ </proc/self/fd/9/statm; } 2>/dev/null || return 1
  [ "$held_pages" != 0 ] || return 1
  found_pid=${held% *} found_start=${held#* }
}

last_line() {
  last=''
  while IFS= read -r last_next; do last=$last_next; done <"$1"
  printf '%.300s\n' "$last"
}

# ---- the trigger: feeds the firer from a log of the target

# The channel's lines, when the firer reads from the trigger: `fire` is not ours to give then.
pass_on() {
  while read -r pass_word pass_arg; do
    case $pass_word in
    fire)
      now
      echo "not_fired $now_cs a trigger on the node fires this fault" >&5
      ;;
    trigger) tell_trigger ;;
    renew | revert) echo "$pass_word $pass_arg" >&8 ;;
    esac
  done
}

# `trigger` lets the trigger loose: only after the controller has `armed` in its journal.
tell_trigger() { echo trigger >&5; }

# A line is cut after 64 KiB: grep would hold all of it, however long a broken target makes it.
# shellcheck disable=SC2016 # perl's variables
cut_lines='my $kept = 0;
while (sysread STDIN, my $text, 65536) {
  my $out = "";
  for (split /^/, $text) {
    my $ends = /\n\z/;
    chomp;
    $out .= substr $_, 0, 65536 - $kept if $kept < 65536;
    $kept = $ends ? 0 : $kept + length;
    $out .= "\n" if $ends;
  }
  print $out;
}'

# tail | cut | grep | sed | pull_on_match, each a child that is known by its pid.
watch_log() {
  mkfifo "$generation/log" "$generation/lines" "$generation/hits" "$generation/split" || return 1
  # GNU tail goes with us even when we are killed.
  watch_tail=
  if tail --pid=$$ -n 1 /dev/null >/dev/null 2>&1; then watch_tail=--pid=$$; fi
  (
    exec >"$generation/log" 2>/dev/null 3<&- 4<&- 5>&- 6>&- 8>&-
    # shellcheck disable=SC2086
    exec tail $watch_tail -n +1 -F "$UNPLUG_WHEN_LOG"
  ) &
  watched $!
  (
    exec <"$generation/log" >"$generation/lines" 3<&- 4<&- 5>&- 6>&- 8>&-
    exec perl -e "\$| = 1; $cut_lines"
  ) &
  watched $!
  (
    exec <"$generation/lines" >"$generation/hits" 3<&- 4<&- 5>&- 6>&- 8>&-
    # -a: a log that has odd bytes in it is a log all the same.
    exec grep -a -E --line-buffered -e "$UNPLUG_WHEN_MATCH"
  ) &
  watched $!
  (
    exec <"$generation/hits" >"$generation/split" 3<&- 4<&- 5>&- 6>&- 8>&-
    unbuffered_sed -E "$watch_split"
  ) &
  watched $!
  (
    exec <"$generation/split" 3<&- 4<&- 5>&- 6>&-
    pull_on_match
  ) &
  watched $!
}
watched() {
  child "$1"
  trigger="$trigger ${caught##* }"
}

# No byte of a log reaches the guard's pipe: one word goes to the firer, the line to a file.
pull_on_match() {
  pull_seen=0
  while IFS=$watch_comma read -r c1 c2 c3 c4 c5 c6 c7 c8 c9 _ && IFS= read -r pull_line; do
    fields_match || continue
    pull_seen=$((pull_seen + 1))
    [ "$pull_seen" -ge "${UNPLUG_WHEN_NTH:-1}" ] || continue
    printf '%.600s\n' "$pull_line" >"$generation/line"
    [ -z "${UNPLUG_WHEN_PLUS#0}" ] || sleep "$UNPLUG_WHEN_PLUS"
    echo fire >&8
    return
  done
}

# UNPLUG_WHEN_FIELDS: "NAME=CAPTURE:OP:VALUE ..."
fields_match() {
  for field in ${UNPLUG_WHEN_FIELDS-}; do
    field=${field#*=}
    field_want=${field#*:*:}
    eval "field_seen=\$c${field%%:*}"
    case $field in
    [1-9]:eq:*) [ "$field_seen" = "$field_want" ] || return 1 ;;
    [1-9]:ge:*) at_least "$field_seen" "$field_want" || return 1 ;;
    *) return 1 ;;
    esac
  done
}

# at_least A B: decimal numbers without a sign; what is none is not at least anything.
at_least() {
  for at_least_one; do
    case $at_least_one in '' | .* | *.*.* | *[!0-9.]*) return 1 ;; esac
  done
  without_zeros "${1%%.*}"
  at_least_a=$number
  without_zeros "${2%%.*}"
  [ "$at_least_a" -eq "$number" ] || {
    [ "$at_least_a" -gt "$number" ]
    return
  }
  case $1 in *.*) at_least_a=${1#*.}00000000 ;; *) at_least_a=00000000 ;; esac
  case $2 in *.*) at_least_b=${2#*.}00000000 ;; *) at_least_b=00000000 ;; esac
  [ $((1${at_least_a%"${at_least_a#????????}"})) -ge $((1${at_least_b%"${at_least_b#????????}"})) ]
}
without_zeros() {
  number=$1
  while :; do
    case $number in 0?*) number=${number#0} ;; *) return ;; esac
  done
}

# Before anything starts: a trigger that cannot match must not be armed.
check_trigger() {
  printf '' | grep -E -e "$UNPLUG_WHEN_MATCH" >/dev/null 2>&1
  [ $? -le 1 ] || not_so "not a POSIX extended expression: $UNPLUG_WHEN_MATCH" || return 1
  seconds "${UNPLUG_WHEN_PLUS:-0}" || not_so "UNPLUG_WHEN_PLUS is no duration: $UNPLUG_WHEN_PLUS" || return 1
  watch_mark=$(printf '\001') watch_comma=$(printf '\037') watch_edge=$(printf '\002')
  # How many groups: parentheses that are neither escaped nor in a bracket.
  watch_count=$(printf '%s' "$UNPLUG_WHEN_MATCH" | sed 's/\\.//g; s/\[^\{0,1\}]\{0,1\}[^]]*\]//g' | tr -cd '(' | wc -c)
  watch_count=$((watch_count))
  watch_groups=
  watch_n=1
  while [ "$watch_n" -le "$watch_count" ] && [ "$watch_n" -le 9 ]; do
    watch_groups="$watch_groups\\$watch_n$watch_comma"
    watch_n=$((watch_n + 1))
  done
  for field in ${UNPLUG_WHEN_FIELDS-}; do
    case $field in
    *=[1-9]:eq:* | *=[1-9]:ge:*) ;;
    *) not_so "not NAME=CAPTURE:OP:VALUE with a capture of 1 to 9 and eq or ge: $field" || return 1 ;;
    esac
    field=${field#*=}
    [ "${field%%:*}" -lt "$watch_n" ] ||
      not_so "the expression has $watch_count groups, not ${field%%:*}: $UNPLUG_WHEN_MATCH" || return 1
  done
  # Each line becomes two: its captures, and the line itself.
  watch_any="[^$watch_mark]*"
  watch_split="h
s$watch_edge$UNPLUG_WHEN_MATCH$watch_edge$watch_mark$watch_groups$watch_mark$watch_edge
s/^$watch_any$watch_mark($watch_any)$watch_mark.*/\\1/
G"
  printf '' | sed -E "$watch_split" 2>/dev/null || not_so "sed cannot work with: $UNPLUG_WHEN_MATCH"
}

start_firer() {
  fired=no
  if [ -n "${UNPLUG_WHEN_LOG-}" ]; then
    open_ends pull || return 1
    (
      exec <&7 >/dev/null 3<&- 4<&- 6>&- 7<&- 8>&-
      fire_on_command
    ) &
    firer_child $!
    exec 7<&-
    (
      exec <&4 >/dev/null 3<&- 4<&- 6>&-
      pass_on
    ) &
    child $!
  else
    (
      exec <&4 >/dev/null 3<&- 4<&- 6>&-
      fire_on_command
    ) &
    firer_child $!
  fi
  exec 4<&-
}

firer_child() {
  child "$1"
  firer=${caught##* }
  printf '%s %s %s\n' "$boot_id" "${firer%:*}" "${firer#*:}" >"$generation/firer"
}

# ---- what the guard takes in

next_word() {
  read -r word arg rest <&3 || {
    sleep 0.5 # cannot be while we hold its writing end; must not spin if it is
    word=tick arg=
  }
  case $word in
  tick) if [ -n "$arg" ]; then now_cs=$arg; else now; fi ;;
  said)
    said=yes
    hand_over
    ;;
  deaf) said=deaf queue='' ;;
  bound) take_bound ;;
  background) caught="$caught $arg" background="$background $arg" ;;
  remembered) remembered="$remembered$arg${rest:+ }$rest$newline" ;;
  firing)
    begun=yes
    # No renewal passes this; before fire there is nothing that could last too long.
    hard_end=$((arg + hard))
    [ "$lease_end" -le "$hard_end" ] || lease_end=$hard_end
    ;;
  fired) take_fired ;;
  not_fired)
    json_text "${rest:-fire failed}"
    say "{\"guard\":\"not_fired\",\"nt\":$((arg * 10000000)),\"why\":$json}"
    ;;
  esac
}

take_bound() { # arg: the parameter; rest: PART SEAT PID START
  take_part=${rest%% *} rest=${rest#* }
  take_seat=${rest%% *} rest=${rest#* }
  set_victim "$arg" "${rest% *}" "${rest#* }" "$boot_id"
  json_text "$take_part" && take_part=$json
  json_text "$take_seat"
  say "{\"guard\":\"bound\",\"part\":$take_part,\"seat\":$json,\"pid\":${rest% *},\"start\":${rest#* }}"
}

take_fired() {
  take_line=
  if [ -e "$generation/line" ]; then
    IFS= read -r take_line <"$generation/line"
    json_text "$take_line"
    take_line=",\"line\":$json"
  fi
  say "{\"guard\":\"fired\",\"nt\":$((arg * 10000000))$take_line}"
}

# ---- undo

# asked: someone put please-revert there; its text, if any, says who.
asked() {
  [ -e "$fault_folder/please-revert" ] || return 1
  read -r why <"$fault_folder/please-revert"
  case $why in heal | sweep) ;; *) why=request ;; esac
}

# SAFETY: no fire after this line. Everything the firer has said is read afterwards: a victim bound
# in its last moment is known. Test: guard_trials.test (revert and fire at once), trigger.test.
silence_firer() {
  if [ -n "$firer" ]; then
    if alive "$boot_id" "${firer%:*}" "${firer#*:}"; then end_and_see "$firer"; fi
    wait "${firer%:*}"
  fi 2>/dev/null
  for silence in $trigger; do end_child "$silence"; done
  # From a child: the pipe may be full, when the guard was stopped for hours.
  (
    exec 3<&- 6>&-
    echo drained >&5
  ) &
  silence=$!
  word=
  while [ "$word" != drained ]; do next_word; done
  wait "$silence"
  for silence in $background; do
    if alive "$boot_id" "${silence%:*}" "${silence#*:}"; then end_and_see "$silence"; fi
  done
  [ ! -e "$fault_folder/fired" ] || begun=yes
}

undo() {
  why=$1
  silence_firer
  # heal takes a guard that has not heard it after 5 s for hung; a folder needs no block on a full disk.
  mkdir "$generation/undoing" 2>/dev/null
  nt
  if [ "$lasting" = yes ] && [ "$begun" = yes ]; then
    printf '' >"$fault_folder/spent"
    say "{\"guard\":\"spent\",\"nt\":$nt}"
    leave
  fi
  say "{\"guard\":\"reverting\",\"nt\":$nt,\"why\":\"$why\",\"boot\":\"$boot_id\"}"
  [ "$begun" = no ] || undo_until_it_holds
  printf '' >"$fault_folder/undone"
  nt
  say "{\"guard\":\"reverted\",\"nt\":$nt}"
  leave
}

undo_until_it_holds() {
  seconds "$undo_settle"
  settle=$centis
  settled=$((now_cs + settle))
  while :; do
    if try_undo revert_and_look; then
      rest_for 100
      # The second look does not revert again: a world that falls back must be seen to.
      try_undo verify_reverted && return
    fi
    nt
    json_text "${undo_why:-verify_reverted says no}"
    say "{\"guard\":\"still_broken\",\"nt\":$nt,\"why\":$json}"
    if [ "$now_cs" -lt "$settled" ]; then rest_for 100; else rest_for 500; fi
  done
}

revert_and_look() { revert && verify_reverted; }

# try_undo FUNCTION: in a child with a deadline, for a command that hangs must not hang the guard.
try_undo() {
  attempt=$((attempt + 1))
  (
    exec </dev/null 3<&- 6>&-
    answer_of "$1"
  ) &
  stat_of $!
  try_child=$!:$proc_start
  now
  try_until=$((now_cs + (settle > 500 ? settle : 500)))
  while :; do
    next_word
    leave_if_fenced "$try_child"
    if [ "$word" = did ] && [ "$arg" = "$attempt" ]; then
      wait "${try_child%:*}"
      undo_why=${rest#* }
      [ "${rest%% *}" = 0 ]
      return
    fi
    if [ "$now_cs" -ge "$try_until" ]; then
      end_child "$try_child"
      undo_why="revert did not end by its deadline"
      return 1
    fi
  done
}
answer_of() {
  answer=$("$1" 2>&1 >/dev/null 5>&-)
  answer_status=$?
  answer=${answer##*"$newline"}
  printf 'did %s %s %.300s\n' "$attempt" "$answer_status" "$answer" >&5
}

rest_for() {
  now
  rest_until=$((now_cs + $1))
  while [ "$now_cs" -lt "$rest_until" ]; do
    next_word
    leave_if_fenced
  done
}

# ---- the end

leave_if_fenced() {
  fenced || return 0
  [ -z "${1-}" ] || end_child "$1"
  [ -z "$firer" ] || end_child "$firer"
  say '{"guard":"fenced"}'
  leave
}

# What was said last goes out first, if anyone takes it within 2 s; then nothing of us is left.
leave() {
  now
  leave_until=$((now_cs + 200))
  while [ "$said" = no ] && [ "$now_cs" -lt "$leave_until" ]; do next_word; done
  for leave_child in $caught; do end_child "$leave_child"; done
  exit 0
}

# Once; a trigger that cannot be watched is a fault that cannot fire.
loose_trigger() {
  [ -z "$trigger" ] && [ -n "${UNPLUG_WHEN_LOG-}" ] || return 0
  watch_log || say "{\"guard\":\"not_fired\",\"nt\":$((now_cs * 10000000)),\"why\":\"its trigger does not start\"}"
  exec 8>&-
}

main() {
  if [ -e "$fault_folder/undone" ] || [ -e "$fault_folder/spent" ]; then
    [ "${1-}" != undo ] || exit 0
    cannot "this fault is over"
  fi
  # Neither our session's end nor a reader that is gone may end the guard; a plain kill does not
  # either: only the undo does.
  trap '' HUP INT QUIT TERM PIPE
  load_state "$fault_folder" || cannot "$fault_folder is not whole"
  firer=''
  if [ "${1-}" = undo ]; then
    claim || exit 3
    log_errors
    open_pipes || exit 3
    undo "${2:-request}"
  fi
  [ ! -e "$fault_folder/fired" ] || cannot "this fault was fired before: it can only be undone"
  seconds "${UNPLUG_LEASE-}" || cannot "UNPLUG_LEASE is no duration: ${UNPLUG_LEASE-}"
  lease=$centis
  seconds "${UNPLUG_HARD-}" || cannot "UNPLUG_HARD is no duration: ${UNPLUG_HARD-}"
  hard=$centis
  [ -z "${UNPLUG_WHEN_LOG-}" ] || check_trigger || exit 3
  claim || exit 3
  log_errors
  now
  lease_end=$((now_cs + lease))
  hard_end=$never
  open_pipes && start_firer || exit 3
  watch_over
}

# Our stderr is the channel's, and nobody may read it.
log_errors() {
  if printf '' >>"$generation/errors"; then exec 2>>"$generation/errors"; else exec 2>/dev/null; fi
}

watch_over() {
  while :; do
    next_word
    leave_if_fenced
    now
    if [ "$now_cs" -ge "$hard_end" ]; then undo hard; fi
    if [ "$now_cs" -ge "$lease_end" ]; then undo lease; fi
    if asked; then undo "$why"; fi
    case $word in
    ready)
      say "{\"guard\":\"armed\",\"gen\":$mine,\"nt\":$((now_cs * 10000000)),\"boot\":\"$boot_id\"}"
      ;;
    renew)
      lease_end=$((now_cs + arg))
      [ "$lease_end" -le "$hard_end" ] || lease_end=$hard_end
      until_text
      say "{\"guard\":\"renewed\",\"nt\":$((now_cs * 10000000)),\"until\":$until_text}"
      ;;
    revert) undo request ;;
    trigger) loose_trigger ;;
    fired) # the trigger has done its work
      for silence in $trigger; do end_child "$silence"; done
      trigger=
      ;;
    esac
  done
}

main "$@"
exit 3
