#!/bin/sh
# The lock of a node: one run at a time. Sent on stdin, or its words set and then this, to the resident
# shell; working directory $HOME:
#
#   sh -s -- take RUN OWNER SECONDS    makes ~/.unplug/lock, or takes over one that has expired
#   sh -s -- renew RUN OWNER SECONDS   moves its end
#   sh -s -- release RUN               removes it, when it is RUN's
#   sh -s -- show                      exit 1 when a run holds it
#
# Exit 0 done; 1 held by another: `RUN OWNER SECONDS_LEFT` on stdout. Its end is on the node's
# continuous clock with the boot id, so that no clock step and no sleep can stretch it.
set -eu
umask 077

now() {
  if [ -r /proc/uptime ]; then
    read -r t _ </proc/uptime
    t=${t%.*}
  else
    t=$(perl -MTime::HiRes=clock_gettime,CLOCK_MONOTONIC -e 'printf "%d", clock_gettime(CLOCK_MONOTONIC)')
  fi
}

boot_id() {
  if [ -r /proc/sys/kernel/random/boot_id ]; then
    read -r boot </proc/sys/kernel/random/boot_id
  else
    boot=$(sysctl -n kern.bootsessionuuid)
  fi
}

# write_owner RUN OWNER SECONDS: whole or not at all.
write_owner() {
  echo "$1 $2 $boot $((t + $3))" >.unplug/lock/owner.new
  mv .unplug/lock/owner.new .unplug/lock/owner
}

# Is the lock another's, and alive? Then says whose and for how long.
held_by_other() {
  if ! read -r run owner on_boot expires 2>/dev/null <.unplug/lock/owner; then
    # Made this very moment, or its maker died before it could sign: give it time to sign.
    sleep 1
    read -r run owner on_boot expires 2>/dev/null <.unplug/lock/owner || return 1
  fi
  now
  [ "$run" != "$1" ] && [ "$on_boot" = "$boot" ] && [ "$expires" -gt "$t" ] || return 1
  echo "$run $owner $((expires - t))"
}

take() {
  mkdir -p .unplug
  if ! mkdir .unplug/lock 2>/dev/null; then
    ! held_by_other "$1" || return 1
    take_over "$1" || return 1
  fi
  write_owner "$1" "$2" "$3"
  rmdir .unplug/lock/takeover.* 2>/dev/null || :
  mkdir -p .config/unplug
  echo "$(date -u +%Y-%m-%dT%H:%M:%SZ) $1 $2" >>.config/unplug/ledger
}

# An expired lock is taken over in place. SAFETY: of those who saw it expire only one makes the
# folder named after that end; renaming the lock away could hit the lock of a faster one.
take_over() {
  dead=${expires:-none}
  mkdir ".unplug/lock/takeover.$dead" 2>/dev/null && return 0
  sleep 2
  held_by_other "$1" && return 1
  # Whoever began it has died; the next try can win.
  rmdir ".unplug/lock/takeover.$dead" 2>/dev/null || :
  echo "$1 unknown 0"
  return 1
}

renew() {
  read -r run _ 2>/dev/null <.unplug/lock/owner || return 1
  [ "$run" = "$1" ] && write_owner "$1" "$2" "$3"
}

release() {
  read -r run _ 2>/dev/null <.unplug/lock/owner || return 0
  [ "$run" != "$1" ] || rm -rf .unplug/lock
  rmdir .unplug 2>/dev/null || :
}

show() {
  [ -d .unplug/lock ] || return 0
  ! held_by_other ""
}

verb=$1
shift
now
boot_id
"$verb" "$@"
