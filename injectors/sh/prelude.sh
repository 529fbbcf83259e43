#!/bin/sh
# What every script on a node starts from: JSON text, the continuous clock, processes by
# identity, what undo needs, the control path, root.
#
# Sourced by verb.sh, guard.sh and rank.sh, copied into every fault's folder, and read by a
# plain `sh` on its stdin under `unplug plan`. So it only defines functions: it prints nothing,
# writes nothing, and never relies on its own path. A function that answers sets a variable
# instead of printing: the guard must fork as little as it can.
#
# Platforms differ in the two sections at the end and nowhere else.

# Functions answer in variables that others read; facts of a fault are read from a file.
# shellcheck disable=SC2034,SC2154

LC_ALL=C # bytes, not characters: lengths and patterns mean the same everywhere (not exported)
newline='
'

# ---- words to the controller (stdout) and to people (stderr)

# json_text TEXT: sets $json to TEXT as a JSON string. Bytes that are no UTF-8 become U+FFFD.
json_text() {
  case $1 in
  *[!\ -~]* | *[\"\\]*) json_escape "$1" ;;
  *) json="\"$1\"" ;;
  esac
}

json_escape() {
  json=
  json_rest=$1
  while [ -n "$json_rest" ]; do
    json_plain=${json_rest%%[\"\\]*}
    json_plain=${json_plain%%[!\ -~]*}
    json=$json$json_plain
    json_rest=${json_rest#"$json_plain"}
    [ -n "$json_rest" ] || break
    json_char=${json_rest%"${json_rest#?}"}
    json_rest=${json_rest#?}
    case $json_char in
    \" | \\) json="$json\\$json_char" ;;
    "$newline") json="$json\\n" ;;
    *) json_byte ;;
    esac
  done
  json="\"$json\""
}

# One byte that is not printable ASCII: a control character, or the first of a UTF-8 sequence.
json_byte() {
  json_tables
  case $json_controls in
  *"$json_char"*)
    json_code=${json_controls%%"$json_char"*}
    json_hex $((${#json_code} + 1))
    json="$json\\u00$json_digits"
    return
    ;;
  esac
  json_value "$json_char"
  # How many bytes must follow, and the range of the first of them (RFC 3629, table 3-7 of
  # Unicode): overlong forms, surrogates and values past U+10FFFF are no UTF-8.
  json_low=128 json_high=191
  if [ "$json_code" -lt 128 ]; then # DEL
    json=$json$json_char
    return
  elif [ "$json_code" -ge 194 ] && [ "$json_code" -le 223 ]; then
    json_more=1
  elif [ "$json_code" -ge 224 ] && [ "$json_code" -le 239 ]; then
    json_more=2
    [ "$json_code" -ne 224 ] || json_low=160
    [ "$json_code" -ne 237 ] || json_high=159
  elif [ "$json_code" -ge 240 ] && [ "$json_code" -le 244 ]; then
    json_more=3
    [ "$json_code" -ne 240 ] || json_low=144
    [ "$json_code" -ne 244 ] || json_high=143
  else json_more=0; fi
  if [ "$json_more" -gt 0 ] && json_sequence; then return; fi
  json="$json\\ufffd"
}

# The rest of a UTF-8 sequence; leaves $json_rest alone when it is none.
json_sequence() {
  json_taken=$json_char
  json_left=$json_rest
  while [ "$json_more" -gt 0 ]; do
    [ -n "$json_left" ] || return 1
    json_char=${json_left%"${json_left#?}"}
    json_left=${json_left#?}
    json_value "$json_char"
    if [ "$json_code" -lt "$json_low" ] || [ "$json_code" -gt "$json_high" ]; then return 1; fi
    json_low=128 json_high=191
    json_taken=$json_taken$json_char
    json_more=$((json_more - 1))
  done
  json=$json$json_taken
  json_rest=$json_left
}

# json_value BYTE: sets $json_code; anything below 128 is 127.
json_value() {
  case $json_upper in
  *"$1"*)
    json_code=${json_upper%%"$1"*}
    json_code=$((${#json_code} + 128))
    ;;
  *) json_code=127 ;;
  esac
}

json_hex() {
  json_digits=$(($1 / 16))
  case $(($1 % 16)) in
  10) json_digits=${json_digits}a ;;
  11) json_digits=${json_digits}b ;;
  12) json_digits=${json_digits}c ;;
  13) json_digits=${json_digits}d ;;
  14) json_digits=${json_digits}e ;;
  15) json_digits=${json_digits}f ;;
  *) json_digits=$json_digits$(($1 % 16)) ;;
  esac
}

# All control characters and all bytes over 127, in order. Made once, and only when a byte
# beyond plain ASCII turns up: sh has no other way to get a byte's number without a process.
json_tables() {
  [ -z "${json_upper-}" ] || return 0
  json_format=
  for json_a in 0 1 2 3; do
    for json_b in 0 1 2 3 4 5 6 7; do
      for json_c in 0 1 2 3 4 5 6 7; do json_format="$json_format\\$json_a$json_b$json_c"; done
    done
  done
  # shellcheck disable=SC2059 # the format is the table
  json_controls=$(printf "${json_format%%\\040*}" | tr -d '\000')
  # A newline at the end of $(...) is dropped, one inside is kept.
  # shellcheck disable=SC2059
  json_upper=$(printf "${json_format#*\\177}")
}

# facts NAME VALUE...: prints one JSON object. Integers, true, false and null stay bare.
facts() {
  facts_line=
  while [ $# -ge 2 ]; do
    case $2 in
    true | false | null | 0) json=$2 ;;
    '' | *[!0-9]* | 0*) json_text "$2" ;;
    *) json=$2 ;;
    esac
    facts_line="$facts_line,\"$1\":$json"
    shift 2
  done
  printf '{%s}\n' "${facts_line#,}"
}

# The last line of stderr is the reason of a status that is not 0.
not_so() {
  printf '%s\n' "$*" >&2
  return 1
}
cannot() {
  printf '%s\n' "$*" >&2
  exit 3
}
lacks() {
  printf '%s\n' "$*" >&2
  exit 4
}

need_tools() {
  for need_tool; do
    command -v "$need_tool" >/dev/null 2>&1 || cannot "$need_tool is not installed on this node"
  done
}

# ---- root

need_root() {
  case ${UNPLUG_ROOT_BY:-none} in
  already) [ "$(id -u)" -eq 0 ] || lacks "the lab says that we are root here, but we are not" ;;
  sudo) sudo -n true 2>/dev/null || lacks "sudo -n asks for a password on this node" ;;
  *) lacks "this injector needs root, and the lab gives none on this node (root: sudo)" ;;
  esac
}

as_root() {
  if [ "${UNPLUG_ROOT_BY:-none}" = sudo ] && [ "$(id -u)" -ne 0 ]; then
    sudo -n -- "$@"
  else
    "$@"
  fi
}

# ---- what undo needs

# quote TEXT: sets $quoted to TEXT as one word of sh.
quote() {
  quoted=
  quote_rest=$1
  while :; do
    case $quote_rest in
    *\'*)
      quoted="$quoted${quote_rest%%\'*}'\\''"
      quote_rest=${quote_rest#*\'}
      ;;
    *) break ;;
    esac
  done
  quoted="'$quoted$quote_rest'"
}

# keep NAME VALUE (in arm): revert, verify and verify_reverted see it as $kept_NAME.
keep() {
  case $1 in
  '' | *[!a-z0-9_]*) cannot "keep: '$1' is not a name (a-z, 0-9, _)" ;;
  esac
  quote "$2"
  kept="${kept-}kept_$1=$quoted$newline"
  json_text "$2"
  captured="${captured-}${captured:+,}\"$1\":$json"
  eval "kept_$1=\$2"
}

# remember WORD... (in fire, before the act): one more line of $remembered for undo and proofs.
# SAFETY: what was not noted must not be done, else an undo by another hand could not find it:
# `remember ... || return 1`. Test: process_injectors.test, heal_and_sweep.test.
remember() {
  printf '%s\n' "$*" >>"$fault_folder/remembered" 2>/dev/null ||
    not_so "cannot write to $fault_folder" || return 1
  tell "remembered $*"
}
tell() { :; } # the guard replaces it

# each_remembered FUNCTION: calls it with the words of each line. No here-document: some shells
# put those on the disk, and undo must not need one.
each_remembered() {
  each_rest=$remembered
  while [ -n "$each_rest" ]; do
    # shellcheck disable=SC2086 # split on purpose
    "$1" ${each_rest%%"$newline"*}
    each_rest=${each_rest#*"$newline"}
  done
}

# load_state FOLDER: all that arm and fire left there.
load_state() {
  fault_folder=$1
  bound=no remembered=
  [ -e "$1/facts" ] || return 1
  # shellcheck disable=SC1090,SC1091 # written by arm
  . "$1/params" && . "$1/undo" && . "$1/facts" || return 1
  if [ -e "$1/remembered" ]; then
    while IFS= read -r load_line; do
      remembered="$remembered$load_line$newline"
    done <"$1/remembered"
  fi
  load_bound "$1"
}

load_bound() {
  [ -e "$1/bound" ] || return 0
  for load_param in $process_params; do
    if read -r _ _ load_pid load_at load_boot; then
      set_victim "${load_param#*=}" "$load_pid" "$load_at" "$load_boot"
    fi
  done <"$1/bound"
}

# set_victim NAME PID START BOOT: the victim of the process parameter NAME.
set_victim() {
  eval "$1_pid=\$2 $1_start=\$3 $1_boot=\$4"
  bound=yes
}

# ---- processes, always by boot id, pid and start time

# alive BOOT PID START: that very process is there and has not ended (a zombie has).
alive() {
  boot_of_node
  [ "$1" = "$boot_id" ] && stat_of "$2" && [ "$proc_start" = "$3" ] || return 1
  case $proc_state in Z | X) return 1 ;; esac
}

# stopped BOOT PID START: alive, and stopped by a signal.
stopped() { alive "$@" && [ "$proc_state" = T ]; }

# descendants PID: sets $tree to "PID:START ..." of everything below it, nearest first.
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

# end_tree PID: kills a process of ours and what it started. All are stopped first, until a look finds nobody
# new: one that runs while we look could start another that slips away. Leaves them in $tree.
# Test: guard_background.test.
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

# bind PART SEAT FOUND: sets $found_pid and $found_start to the one living process meant.
# SAFETY: the prelude, not fire, looks for the victim, just before fire. Test: process_injectors.test
# (decoys of the same name, a restarted worker, a zombie).
bind() {
  case $3 in
  record) bind_record "$1" "$2" ;;
  child\ *)
    bind_rest=${3#child }
    bind_record "${bind_rest%% *}" "$2" || return 1
    bind_child "$found_pid" "${bind_rest#* }" ||
      not_so "no process below the ${bind_rest%% *} (pid $found_pid) of $2 matches ${bind_rest#* }"
    ;;
  *) not_so "cannot find a process by '$3'" ;;
  esac
}

# The newest living record, should a worker have been started again.
bind_record() {
  found_pid='' found_start=0
  for bind_file in "${run_folder:-.}"/procs/[0-9]*; do
    read -r bind_part bind_seat bind_pid bind_start bind_boot 2>/dev/null <"$bind_file" || continue
    [ "$bind_part $bind_seat" = "$1 $2" ] || continue
    alive "$bind_boot" "$bind_pid" "$bind_start" || continue
    [ "$bind_start" -ge "$found_start" ] || continue
    found_pid=$bind_pid found_start=$bind_start
  done
  [ -n "$found_pid" ] || not_so "no living process is recorded as $1 of $2"
}

# The newest match below PID. It may be just about to be started: it is looked for for a second.
bind_child() {
  bind_tries=0
  while [ "$bind_tries" -lt 20 ]; do
    found_pid='' found_start=0
    descendants "$1"
    for bind_one in $tree; do
      command_of "${bind_one%%:*}" | grep -Eq -e "$2" || continue
      [ "${bind_one#*:}" -ge "$found_start" ] || continue
      alive "$boot_id" "${bind_one%%:*}" "${bind_one#*:}" || continue
      found_pid=${bind_one%%:*} found_start=${bind_one#*:}
    done
    [ -z "$found_pid" ] || return 0
    sleep 0.05
    bind_tries=$((bind_tries + 1))
  done
  return 1
}

# ---- the way our own SSH takes

# refuse_control_path: no parameter may name an interface that carries our SSH.
# SAFETY: values are looked at, whatever a parameter is called, so that an author cannot forget it.
# Test: prelude.test.
refuse_control_path() {
  [ -n "${SSH_CONNECTION-}" ] || return 0
  control_interfaces
  for control_name in $(env | sed -n 's/^\(UNPLUG_[A-Z0-9_]*\)=.*/\1/p'); do
    case $control_name in
    UNPLUG_FAULT | UNPLUG_ROLE | UNPLUG_ROOT_BY | *_PART | *_SEAT | *_FOUND) continue ;;
    esac
    eval "control_value=\${$control_name-}"
    for control_word in $control_value; do
      case " $control_set " in
      *" $control_word "*) cannot "$control_word carries the control path (SSH from ${SSH_CONNECTION%% *}): it is never broken" ;;
      esac
    done
  done
}

# Sets $control_set: the interface of the route to our peer, the one that has the address it
# came to, and everything below them (members of a bridge or a bond, the device of a VLAN).
control_interfaces() {
  control_peer=${SSH_CONNECTION%% *}
  control_ours=${SSH_CONNECTION#* * }
  control_ours=${control_ours%% *}
  control_set=
  control_todo="$(route_interface "$control_peer") $(address_interface "$control_ours")"
  while [ -n "${control_todo# }" ]; do
    control_more=
    for control_one in $control_todo; do
      case " $control_set " in *" $control_one "*) continue ;; esac
      control_set="$control_set $control_one"
      control_more="$control_more $(interfaces_below "$control_one")"
    done
    control_todo=$(printf '%s' "$control_more" | tr -s ' \n' ' ')
  done
  [ -n "$control_set" ] || cannot "cannot tell which interface carries the control path to $control_peer"
}

# probe_here: what `probe` means, under `plan` too.
probe_here() {
  refuse_control_path
  probe
}

# seconds TEXT: sets $centis. The clock of every deadline counts hundredths.
seconds() {
  case $1 in
  '' | .* | 0[0-9]* | *[!0-9.]* | *.*.* | ??????????????*) return 1 ;;
  *.*)
    centis=${1#*.}00
    centis=${centis%"${centis#??}"}
    centis=$((${1%%.*} * 100 + 1$centis - 100))
    ;;
  *) centis=$(($1 * 100)) ;;
  esac
}

if [ -r /proc/self/stat ]; then
  # ---- Linux: /proc, with builtins only

  platform=linux

  # Boot time: it counts in sleep, and nobody can set it. Sets $now_cs.
  now() {
    read -r now_text _ </proc/uptime
    now_cs=$((${now_text%.*} * 100 + 1${now_text#*.} - 100))
  }

  boot_of_node() { [ -n "${boot_id-}" ] || read -r boot_id </proc/sys/kernel/random/boot_id; }

  # stat_of PID: sets $proc_state, $proc_parent and $proc_start (field 22). The name in
  # parentheses may hold anything, line feeds too.
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

  # state_of PID: sets $proc_state alone, from the head of its status: a read takes one byte at a
  # time, and a stat has three hundred.
  state_of() {
    while read -r state_name proc_state _; do
      [ "$state_name" != State: ] || return 0
    done <"/proc/$1/status"
    return 1
  } 2>/dev/null

  command_of() { tr '\000' ' ' <"/proc/$1/cmdline" 2>/dev/null | sed 's/ $//'; }

  # children_of PID: sets $children. Not every kernel has the list; then all of /proc is read.
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
  sha256_of() { sha256sum "$1" | cut -c 1-64; }
  ticker() {
    while :; do
      sleep 0.5
      echo tick || return 0
    done
  }
  unbuffered_sed() { exec sed -u "$@"; }

  route_interface() {
    case $1 in *%*) echo "${1#*%}" ;; *) ip route get "$1" 2>/dev/null ;; esac |
      sed -n 's/.* dev \([^ ]*\).*/\1/p; /^[^ ]*$/p' | head -n 1
  }
  address_interface() {
    ip -o addr show 2>/dev/null | awk -v a="${1%%%*}" '{ split($4, p, "/"); if (p[1] == a) print $2 }' | head -n 1
  }
  # By netlink: a /sys may be that of another network namespace. "vlan7@eth0" lies on eth0.
  interfaces_below() {
    ip -o link show master "$1" 2>/dev/null | sed -n 's/^[0-9]*: \([^@:]*\)[@:].*/\1/p'
    ip -o link show dev "$1" 2>/dev/null | sed -n 's/^[0-9]*: [^@:]*@\([^@:]*\):.*/\1/p'
  }
else
  # ---- darwin: ps and perl. Not verified on hardware.

  platform=darwin

  darwin_clock='use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC); sub cs { int(100 * clock_gettime(CLOCK_MONOTONIC)) }'

  # CLOCK_MONOTONIC counts in sleep on darwin.
  now() { now_cs=$(perl -e "$darwin_clock; print cs()"); }

  boot_of_node() { [ -n "${boot_id-}" ] || boot_id=$(sysctl -n kern.bootsessionuuid); }

  # The start is a whole second: darwin's ps tells no more.
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

  state_of() { stat_of "$1"; }

  command_of() { ps -ww -o command= -p "$1"; }
  children_of() { children=$(ps -axo pid=,ppid= | awk -v p="$1" '$2 == p { print $1 }'); }
  new_session() { perl -MPOSIX -e 'POSIX::setsid(); exec @ARGV or exit 127' -- "$@"; }
  sha256_of() { shasum -a 256 "$1" | cut -c 1-64; }
  ticker() {
    perl -e "$darwin_clock; \$| = 1; while (1) { select(undef, undef, undef, 0.5); print 'tick ', cs(), qq(\n) or exit }"
  }
  unbuffered_sed() { exec sed -l "$@"; }

  route_interface() {
    case $1 in *%*) echo "${1#*%}" ;; *) route -n get "$1" 2>/dev/null | awk '/interface:/ { print $2 }' ;; esac
  }
  address_interface() {
    ifconfig 2>/dev/null | awk -v a="${1%%%*}" '/^[^ \t]/ { sub(":.*", "", $1); i = $1 } ($1 == "inet" || $1 == "inet6") && $2 == a { print i; exit }'
  }
  interfaces_below() { ifconfig "$1" 2>/dev/null | awk '/member:/ { print $2 }'; }
fi
