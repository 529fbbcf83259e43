#!/bin/sh
# Looks at, undoes and removes what runs have left on this node: sh -s -- VERB [ARG...] <heal.sh
#
# It comes on stdin with $HOME as its working directory and relies on nothing else here: each
# fault's folder can undo itself. Its own copies of what it needs of the prelude stand at the end
# (lint.test keeps them equal). It never undoes by hand: it asks the guard, and starts the next
# generation where the guard is proven dead, or stopped or deaf for 5 s.
# shellcheck disable=SC2154,SC2317 # facts of a fault are read; functions are called by name
set -u
umask 077
LC_ALL=C
home=$PWD/.unplug

main() {
  verb=${1-}
  [ $# -eq 0 ] || shift
  boot_of_node
  case $verb in
  look) look ;;
  undo) undo "${1-}" ;;
  remove) remove "${1-}" "${2-}" ;;
  *)
    echo "usage: sh -s -- look | undo [RUN] | remove RUN" >&2
    exit 3
    ;;
  esac
}

# ---- look: what is here; changes nothing

look() {
  now
  if read -r l_run l_owner l_boot l_expires 2>/dev/null <"$home/lock/owner"; then
    this_boot=false
    [ "$l_boot" != "$boot_id" ] || this_boot=true
    json_text "$l_owner" && l_owner=$json
    json_text "$l_run"
    printf '{"look":"lock","run":%s,"owner":%s,"expires":%s,"now":%d.%02d,"this_boot":%s}\n' \
      "$json" "$l_owner" "${l_expires:-0}" $((now_cs / 100)) $((now_cs % 100)) "$this_boot"
  fi
  for run in $(runs ''); do
    json_text "$run"
    printf '{"look":"run","run":%s}\n' "$json"
    for fault in $(faults "$run"); do
      fault_at "$run" "$fault"
      json_text "$run" && l_run=$json
      json_text "$fault"
      printf '{"look":"fault","run":%s,"fault":%s,"state":"%s","guard":"%s","this_boot":%s}\n' \
        "$l_run" "$json" "$fault_state" "$guard_state" "$this_boot"
    done
    recorded "$run" look_process
  done
  echo '{"look":"done"}'
}

look_process() { # RUN PART SEAT PID START
  json_text "$1" && l_run=$json
  json_text "$2" && l_part=$json
  json_text "$3"
  printf '{"look":"process","run":%s,"part":%s,"seat":%s,"pid":%s,"start":%s}\n' "$l_run" "$l_part" "$json" "$4" "$5"
}

# The names of run folders, of one if it is named. Names hold no blanks.
runs() {
  for runs_path in "$home"/*; do
    runs_name=${runs_path##*/}
    [ -d "$runs_path" ] || continue
    case ${1:-$runs_name}/$runs_name in
    */lock) ;;
    "$runs_name/$runs_name") echo "$runs_name" ;;
    esac
  done
}

faults() {
  for faults_path in "$home/$1"/*/facts; do
    [ ! -e "$faults_path" ] || basename "${faults_path%/facts}"
  done
}

# fault_at RUN FAULT: sets $fault_state, $guard_state, $this_boot, and the guard's generation.
fault_at() {
  at=$home/$1/$2
  this_boot=false
  # shellcheck disable=SC1090,SC1091 # written by arm; it sets lasting, boot, undo_settle
  . "$at/facts"
  [ "$boot" != "$boot_id" ] || this_boot=true
  if [ -e "$at/undone" ]; then
    fault_state=disarmed
    [ ! -e "$at/fired" ] || fault_state=reverted
  elif [ -e "$at/spent" ]; then
    fault_state=spent
  elif [ -e "$at/fired" ]; then
    fault_state=fired
  else fault_state=armed; fi
  generation=0
  while [ -d "$at/guard.$((generation + 1))" ]; do generation=$((generation + 1)); done
  guard_state=none guard_pid='' guard_start=''
  [ "$generation" -gt 0 ] || return 0
  guard_state=dead
  if read -r guard_boot guard_pid guard_start 2>/dev/null <"$at/guard.$generation/owner"; then
    if alive "$guard_boot" "$guard_pid" "$guard_start"; then
      guard_state=alive
      [ "$proc_state" != T ] || guard_state=stopped
    fi
  fi
  [ ! -d "$at/guard.$generation/undoing" ] || [ "$guard_state" != alive ] || guard_state=undoing
}

# recorded RUN FUNCTION: calls it for each living process that rank.sh has recorded.
recorded() {
  for record in "$home/$1"/procs/[0-9]*; do
    read -r r_part r_seat r_pid r_start r_boot 2>/dev/null <"$record" || continue
    alive "$r_boot" "$r_pid" "$r_start" || continue
    "$2" "$1" "$r_part" "$r_seat" "$r_pid" "$r_start"
  done
}

# ---- undo: faults first, then the target, then its processes, then the observers

undo() {
  left=0
  for run in $(runs "$1"); do undo_faults "$run"; done
  for run in $(runs "$1"); do
    stop_target "$run"
    stop_processes "$run"
    if [ -e "$home/$run/sh/observe.sh" ]; then within 10 "$run" sh sh/observe.sh stop; fi
  done
  printf '{"heal":"done","left":%d}\n' "$left"
}

undo_faults() {
  waiting=
  for fault in $(faults "$1"); do
    fault_at "$1" "$fault"
    case $fault_state in
    armed | fired)
      echo heal 2>/dev/null >"$at/please-revert"
      waiting="$waiting $fault"
      ;;
    *) report_fault "$1" "$fault" "$fault_state" "" ;;
    esac
  done
  deaf=''      # "FAULT:SINCE ...": guards that have not begun by the time they should
  followers='' # "FAULT:PID ...": the generations that we have started
  now
  begun_at=$now_cs
  while [ -n "$waiting" ]; do
    now
    still=
    for fault in $waiting; do watch_fault "$1" "$fault" || still="$still $fault"; done
    waiting=$still
    [ -z "$waiting" ] || sleep 0.2
  done
}

# watch_fault RUN FAULT: 0 when it is over, either way. Time runs for each fault from our request.
watch_fault() {
  fault_at "$1" "$2"
  case $fault_state in
  reverted | disarmed | spent)
    report_fault "$1" "$2" "$fault_state" ""
    return 0
    ;;
  esac
  case $guard_state in
  undoing) ;;
  alive | stopped)
    # SAFETY: only by pid and start time, and only after 5 s: a guard that lives undoes best.
    # Test: guard_trials.test (guard stopped past its lease), heal_and_sweep.test.
    if deaf_for "$2.$generation" 500; then
      end_process "$guard_pid"
      take_over "$2"
    fi
    ;;
  *) take_over "$2" ;;
  esac
  if [ $((now_cs - begun_at)) -ge $(((${undo_settle%%.*} + 8) * 100)) ]; then
    why="not verified as undone within ${undo_settle} s"
    [ ! -e "$at/guard.log" ] || why="$why; $(tail -n 1 "$at/guard.log")"
    report_fault "$1" "$2" stranded "$why"
    left=$((left + 1))
    return 0
  fi
  return 1
}

deaf_for() { # FAULT.GENERATION CENTIS
  case " $deaf" in
  *" $1:"*)
    since=${deaf#*" $1:"}
    since=${since%% *}
    [ $((now_cs - since)) -ge "$2" ]
    ;;
  *)
    deaf="$deaf $1:$now_cs "
    return 1
    ;;
  esac
}

# The next generation, unless the one that we started is still on its way.
take_over() {
  case " $followers" in
  *" $1:"*)
    follower=${followers#*" $1:"}
    follower=${follower%% *}
    kill -0 "$follower" 2>/dev/null && return
    followers="${followers%%" $1:"*} ${followers#*" $1:$follower "}"
    ;;
  esac
  root_if_needed "$at"
  # shellcheck disable=SC2086 # UNPLUG_SH may be "bash --posix": tests run both shells
  new_session $root ${UNPLUG_SH:-sh} "$at/guard.sh" undo heal </dev/null >/dev/null 2>&1 &
  followers="$followers $1:$! "
}

# A fault that was armed with sudo is undone with it.
root_if_needed() {
  root=
  if grep -q "^UNPLUG_ROOT_BY='sudo'" "$1/params" 2>/dev/null && [ "$(id -u)" -ne 0 ]; then root="sudo -n --"; fi
}

end_process() {
  kill -9 "$1" 2>/dev/null || sudo -n -- kill -9 "$1" 2>/dev/null
}

report_fault() { # RUN FAULT STATE WHY
  json_text "$1" && r_run=$json
  json_text "$2" && r_fault=$json
  json_text "$4"
  printf '{"heal":"fault","run":%s,"fault":%s,"state":"%s","why":%s}\n' "$r_run" "$r_fault" "$3" "$json"
}

# The target's own stop, once per seat, with the VARS that verb.sh has noted. It may fail: what is
# recorded is ended in any case.
stop_target() {
  for seat in "$home/$1"/.seats/*; do
    case ${seat##*/} in \* | *.*) continue ;; esac # none, or half written
    # shellcheck disable=SC2016 # expanded there
    within 15 "$1" sh -c 'set -a; . "$1"; set +a; exec sh sh/verb.sh "$seat_target" stop' sh "$seat"
  done
}

# within SECONDS RUN COMMAND...: in the run's folder, ended with what it started when it takes longer.
within() {
  within_left=$(($1 * 10))
  within_run=$2
  shift 2
  (cd "$home/$within_run" && exec "$@" </dev/null >/dev/null 2>&1) &
  within_pid=$!
  while kill -0 "$within_pid" 2>/dev/null && [ "$within_left" -gt 0 ]; do
    sleep 0.1
    within_left=$((within_left - 1))
  done
  [ "$within_left" -gt 0 ] || end_tree "$within_pid"
  wait "$within_pid" 2>/dev/null
}

# A recorded process gets TERM, what it started too; who is there 2 s later gets KILL.
stop_processes() {
  ending=
  recorded "$1" mark_process
  for one in $ending; do
    of_entry "$one"
    kill -TERM "$e_pid"
    kill -CONT "$e_pid"
  done 2>/dev/null
  wait_for_end 20
  for one in $ending; do
    of_entry "$one"
    if alive "$boot_id" "$e_pid" "$e_start"; then end_process "$e_pid"; fi
  done
  wait_for_end 20
  for one in $ending; do
    of_entry "$one"
    gone=gone
    if alive "$boot_id" "$e_pid" "$e_start"; then
      gone=still_there
      left=$((left + 1))
    fi
    json_text "$e_part" && e_part=$json
    json_text "$e_seat"
    printf '{"heal":"process","part":%s,"seat":%s,"pid":%s,"state":"%s"}\n' "$e_part" "$json" "$e_pid" "$gone"
  done
}
mark_process() { # RUN PART SEAT PID START
  ending="$ending $2:$3:$4:$5"
  descendants "$4"
  for mark in $tree; do ending="$ending $2:$3:$mark"; done
}
of_entry() {
  e_part=${1%%:*} e_seat=${1#*:}
  e_pid=${e_seat#*:} e_seat=${e_seat%%:*}
  e_start=${e_pid#*:} e_pid=${e_pid%%:*}
}
wait_for_end() { # tenths of a second
  tenths=$1
  while [ "$tenths" -gt 0 ]; do
    any=no
    for one in $ending; do
      of_entry "$one"
      if alive "$boot_id" "$e_pid" "$e_start"; then any=yes; fi
    done
    [ "$any" = yes ] || return 0
    sleep 0.1
    tenths=$((tenths - 1))
  done
}

# ---- remove

# SAFETY: refuses while something is left to undo: the folder is all that knows how.
# Test: heal_and_sweep.test.
remove() {
  case $1 in
  '' | .* | */* | lock)
    echo "not the name of a run: '$1'" >&2
    exit 3
    ;;
  esac
  for fault in $(faults "$1"); do
    fault_at "$1" "$fault"
    case $fault_state in
    armed | fired)
      echo "the fault $fault of $1 is $fault_state: undo it first" >&2
      exit 1
      ;;
    esac
  done
  alive_pids=
  recorded "$1" note_alive
  if [ -n "$alive_pids" ]; then
    echo "processes of $1 still run:$alive_pids" >&2
    exit 1
  fi
  remove_target "$1"
  # Away first: whoever looks now sees all of it or nothing.
  if [ -d "$home/$1" ]; then
    mv "$home/$1" "$home/.gone.$1.$$" || exit 1
  fi
  rm -rf "$home"/.gone.* || exit 1
  # A run that clears up after itself still holds its lock, and renews it.
  if [ "${2-}" != keep_lock ] && read -r l_run _ 2>/dev/null <"$home/lock/owner" && [ "$l_run" = "$1" ]; then
    mv "$home/lock" "$home/.gone.lock.$$" && rm -rf "$home/.gone.lock.$$"
  fi
  rmdir "$home" 2>/dev/null
  json_text "$1"
  printf '{"heal":"removed","run":%s}\n' "$json"
}
# What the target's deploy has made and its workload left; without it the next run would find work that
# nobody owns up to. A target need not have this verb.
remove_target() {
  for seat in "$home/$1"/.seats/*; do
    case ${seat##*/} in \* | *.*) continue ;; esac
    # shellcheck disable=SC2016 # expanded there
    within 15 "$1" sh -c 'set -a; . "$1"; set +a; exec sh sh/verb.sh "$seat_target" remove' sh "$seat"
  done
}
note_alive() { alive_pids="$alive_pids $4"; }

# ---- JSON: what is not printable ASCII shows as ?

json_text() {
  json=$(printf '%s' "$1" | tr -c ' -~' '?' | sed 's/[\\"]/\\&/g')
  json="\"$json\""
}

# ---- copies of prelude.sh

alive() {
  boot_of_node
  [ "$1" = "$boot_id" ] && stat_of "$2" && [ "$proc_start" = "$3" ] || return 1
  case $proc_state in Z | X) return 1 ;; esac
}

descendants() {
  tree=
  tree_next=$1
  while [ -n "$tree_next" ]; do
    tree_level=$tree_next
    tree_next=
    for tree_parent in $tree_level; do
      children_of "$tree_parent"
      for tree_child in $children; do
        stat_of "$tree_child" || continue
        [ "$proc_parent" = "$tree_parent" ] || continue
        tree="$tree$tree_child:$proc_start "
        tree_next="$tree_next $tree_child"
      done
    done
  done
}

end_tree() {
  kill -STOP "$1" 2>/dev/null || return 0
  end_seen=none tree=''
  while [ "$end_seen" != "$tree" ]; do
    end_seen=$tree
    descendants "$1"
    for end_one in $tree; do kill -STOP "${end_one%%:*}"; done 2>/dev/null
  done
  for end_one in $tree; do kill -9 "${end_one%%:*}"; done 2>/dev/null
  kill -9 "$1" 2>/dev/null
  return 0
}

if [ -r /proc/self/stat ]; then
  now() {
    read -r now_text _ </proc/uptime
    now_cs=$((${now_text%.*} * 100 + 1${now_text#*.} - 100))
  }

  boot_of_node() { [ -n "${boot_id-}" ] || read -r boot_id </proc/sys/kernel/random/boot_id; }

  stat_of() {
    stat_line=
    {
      while IFS= read -r stat_more; do stat_line="$stat_line $stat_more"; done <"/proc/$1/stat"
    } 2>/dev/null || return 1
    # No longest prefix and no pattern of many stars: dash takes 7 ms for those, and this stands
    # between a trigger and its fault.
    while :; do
      case $stat_line in
      *') '*) stat_line=${stat_line#*) } ;;
      *) break ;;
      esac
    done
    # shellcheck disable=SC2086 # split on purpose: a letter and numbers
    stat_split $stat_line
  }
  stat_split() {
    [ $# -ge 20 ] || return 1
    proc_state=$1 proc_parent=$2 proc_start=${20}
  }

  children_of() {
    children=
    if [ -e "/proc/$1/task/$1/children" ]; then
      for children_file in "/proc/$1/task/"*/children; do
        children_line=
        { read -r children_line <"$children_file" || :; } 2>/dev/null
        children="$children $children_line"
      done
    elif [ -d "/proc/$1" ]; then
      for children_file in /proc/[0-9]*; do
        stat_of "${children_file#/proc/}" || continue
        [ "$proc_parent" != "$1" ] || children="$children ${children_file#/proc/}"
      done
    fi
  }

  new_session() { setsid "$@"; }
else
  darwin_clock='use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC); sub cs { int(100 * clock_gettime(CLOCK_MONOTONIC)) }'

  now() { now_cs=$(perl -e "$darwin_clock; print cs()"); }

  boot_of_node() { [ -n "${boot_id-}" ] || boot_id=$(sysctl -n kern.bootsessionuuid); }

  stat_of() {
    stat_line=$(ps -o stat=,ppid=,lstart= -p "$1" 2>/dev/null)
    [ -n "$stat_line" ] || return 1
    # shellcheck disable=SC2086 # split on purpose
    stat_split $stat_line
  }

  stat_split() {
    proc_state=${1%"${1#?}"}
    proc_parent=$2
    shift 2
    proc_start=$(LC_ALL=C date -j -f '%a %b %d %T %Y' "$*" +%s 2>/dev/null) && [ -n "$proc_start" ]
  }

  children_of() { children=$(ps -axo pid=,ppid= | awk -v p="$1" '$2 == p { print $1 }'); }

  new_session() { perl -MPOSIX -e 'POSIX::setsid(); exec @ARGV or exit 127' -- "$@"; }
fi

main "$@"
exit
