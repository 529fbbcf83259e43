#!/bin/sh
# Runs one verb of an injector or a target: VARS sh sh/verb.sh NAME VERB [ARG...]
#
# The working directory is the run's folder. docs/node-protocol.md has the contract: JSON lines on
# stdout, the reason of a status that is not 0 on the last line of stderr.
set -eu
umask 077

run_folder=$PWD
UNPLUG_LOGS=$run_folder/logs
export UNPLUG_LOGS
# shellcheck source=injectors/sh/prelude.sh
. "${0%/*}/prelude.sh"
# shellcheck source=injectors/sh/interface.sh
. "${0%/*}/interface.sh"

# The VARS as sh assignments; what belongs to one call of the guard only is left out.
write_vars() {
  for vars_name in $(env | sed -n 's/^\(UNPLUG_[A-Z0-9_]*\)=.*/\1/p'); do
    case $vars_name in
    UNPLUG_LEASE | UNPLUG_HARD | UNPLUG_WHEN_* | UNPLUG_UNDO_SETTLE | UNPLUG_LOGS | UNPLUG_SH | UNPLUG_ROOT) continue ;;
    esac
    eval "vars_value=\${$vars_name-}"
    # shellcheck disable=SC2154 # set by the eval above
    quote "$vars_value"
    printf '%s=%s\n' "$vars_name" "$quoted"
  done
}

# "process=PROCESS ..." for every parameter that has a _FOUND.
process_params_of_env() {
  env | sed -n 's/^UNPLUG_\([A-Z0-9_]*\)_FOUND=.*/\1/p' | while read -r upper; do
    printf '%s=%s ' "$upper" "$(printf '%s' "$upper" | tr '[:upper:]' '[:lower:]')"
  done
}

# arm: notes what undo needs, and makes the fault's folder whole or not at all.
arm_fault() {
  refuse_control_path
  [ ! -e "$fault_folder" ] || cannot "the fault $UNPLUG_FAULT is armed already (or was): $fault_folder exists"
  kept='' captured=''
  arm
  # A fault without a way back is a lasting one; its script has no revert.
  lasting=yes
  [ "$(command -v revert)" != revert ] || lasting=no
  seconds "${UNPLUG_UNDO_SETTLE:-5}" || cannot "UNPLUG_UNDO_SETTLE is no duration: $UNPLUG_UNDO_SETTLE"
  boot_of_node
  arming=$run_folder/.arming.$UNPLUG_FAULT
  rm -rf "$arming"
  mkdir "$arming"
  cp "$script" "$arming/injector.sh"
  cp "$run_folder/sh/prelude.sh" "$run_folder/sh/interface.sh" "$run_folder/sh/guard.sh" "$arming/"
  write_vars >"$arming/params"
  printf '%s' "$kept" >"$arming/undo"
  {
    quote "${run_folder##*/}" && echo "run=$quoted"
    quote "$UNPLUG_FAULT" && echo "fault=$quoted"
    quote "$boot_id" && echo "boot=$quoted"
    echo "lasting=$lasting"
    echo "undo_settle=${UNPLUG_UNDO_SETTLE:-5}"
    quote "$(process_params_of_env)" && echo "process_params=$quoted"
  } >"$arming/facts"
  # SAFETY: the undo is on the disk before anyone may fire. Test: guard_trials.test.
  sync
  mv "$arming" "$fault_folder"
  sync
  undo_sha=$(sha256_of "$fault_folder/undo")
  printf '{"armed":true,"undo_sha":"%s","captured":{%s}}\n' "$undo_sha" "$captured"
}

# guard: the guard leads a session of its own, so that nothing that ends our channel ends it. This
# shell only waits for it: sshd closes the guard's stdin when the channel's own process is gone.
start_guard() {
  [ -e "$fault_folder/facts" ] || cannot "the fault $UNPLUG_FAULT is not armed"
  case ${UNPLUG_LEASE-}/${UNPLUG_HARD-} in
  /* | */) cannot "the guard needs UNPLUG_LEASE and UNPLUG_HARD" ;;
  esac
  exec 9<&0
  if [ "${UNPLUG_ROOT_BY:-none}" = sudo ] && [ "$(id -u)" -ne 0 ]; then
    # Root once, now: nothing between the trigger and the fault may wait for sudo.
    set -- sudo -n -- env
    for vars_name in UNPLUG_LEASE UNPLUG_HARD UNPLUG_WHEN_LOG UNPLUG_WHEN_MATCH UNPLUG_WHEN_FIELDS \
      UNPLUG_WHEN_NTH UNPLUG_WHEN_PLUS; do
      eval "vars_value=\${$vars_name-}"
      [ -z "$vars_value" ] || set -- "$@" "$vars_name=$vars_value"
    done
  else
    set --
  fi
  # shellcheck disable=SC2086 # UNPLUG_SH may be "bash --posix": tests run both shells
  new_session "$@" ${UNPLUG_SH:-sh} "$fault_folder/guard.sh" arm <&9 9<&- &
  guard=$!
  exec 9<&- </dev/null >/dev/null
  wait "$guard"
}

injector_verb() {
  fault_folder=$run_folder/${UNPLUG_FAULT:-}
  case $verb in
  probe) probe_here ;;
  arm) arm_fault ;;
  guard) start_guard ;;
  verify | verify_reverted)
    load_state "$fault_folder" || : # a role that does not act has none
    "$verb"
    ;;
  fire | revert) cannot "$verb is asked of the guard only: it owns the undo" ;;
  *) cannot "an injector has no verb $verb" ;;
  esac
}

# A target's VARS stay on the node, so that heal can stop it knowing nothing else.
note_seat() {
  [ -n "${UNPLUG_SEAT-}" ] || return 0
  seat_file=$run_folder/.seats/$UNPLUG_SEAT
  [ ! -e "$seat_file" ] || return 0
  mkdir -p "$run_folder/.seats"
  {
    write_vars
    quote "$name" && echo "seat_target=$quoted"
  } >"$seat_file.$$"
  mv "$seat_file.$$" "$seat_file"
}

target_verb() {
  note_seat
  case $(command -v "$verb" || :) in
  "$verb") ;;
  *) cannot "the target $name has no verb $verb" ;;
  esac
  "$verb" "$@"
}

[ $# -ge 2 ] || cannot "usage: sh sh/verb.sh NAME VERB [ARG...]"
name=$1 verb=$2
shift 2
if [ -d "$run_folder/injectors/$name" ]; then
  script=$run_folder/injectors/$name/$platform.sh
  [ -e "$script" ] || cannot "the injector $name has no $platform.sh"
  # shellcheck disable=SC1090
  . "$script"
  injector_verb
elif [ -d "$run_folder/targets/$name" ]; then
  script=target.sh
  [ -e "$run_folder/targets/$name/$script" ] || # its `script` has another name
    script=$(sed -n 's/.*"script"[[:space:]]*:[[:space:]]*"\([^"]*\)".*/\1/p' "$run_folder/targets/$name/target.json")
  # shellcheck disable=SC1090
  . "$run_folder/targets/$name/$script"
  # shellcheck disable=SC1091
  [ ! -e "$run_folder/patch.sh" ] || . "$run_folder/patch.sh"
  target_verb "$@"
else
  cannot "there is no injector or target $name in $run_folder"
fi
