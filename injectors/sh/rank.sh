#!/bin/sh
# Starts one process of a target and records who it is: sh sh/rank.sh PART SEAT COMMAND [ARG...]
#
# The record is written first, then the command takes this very process (exec): the process that
# was recorded is the process that runs, and it is nobody's orphan who would not be one without us.
set -eu

part=$1 seat=$2
shift 2
procs=${0%/*}/../procs
# In a subshell: the command inherits nothing of the prelude.
(
  umask 077
  # shellcheck source=injectors/sh/prelude.sh
  . "${0%/*}/prelude.sh"
  boot_of_node
  stat_of $$
  mkdir -p "$procs"
  printf '%s %s %s %s %s\n' "$part" "$seat" $$ "$proc_start" "$boot_id" >"$procs/.$$"
  mv "$procs/.$$" "$procs/$$"
)
# The fault late_start holds a seat by this file.
while [ -e "$procs/hold.$seat" ]; do sleep 0.1; done
exec "$@"
