#!/bin/sh
# disk_fill: takes the space of the node's bounded volume but for `free` bytes, and keeps it taken.
#
#   fire ──fallocate──> VOLUME/.unplug.RUN.FAULT/fill <──takes again what is given back── keeper
#
# A full disk stays full in the world too: whoever filled it goes on. The keeper is a child of fire,
# noted before it acts, and goes by itself when the guard is gone. Undo gives the space back without
# needing a block of it, and removes nothing but our own folder.
# shellcheck disable=SC2154 # the prelude sets what it answers, arm what it kept

# ---- where it may be done

# SAFETY: only the volume that the lab names as bounded, and never one that the system, our own
# folders or a log stand on: a full boot volume is no fault that a node survives for certain.
# Test: disk_fill.test.
check_volume() {
  need_tools df stat fallocate dd perl
  [ -d "$UNPLUG_VOLUME" ] || cannot "no folder $UNPLUG_VOLUME on this node"
  [ -n "${UNPLUG_SCRATCH-}" ] || cannot "the lab names no bounded volume (\"scratch\") on this node"
  same_volume "$UNPLUG_VOLUME" "$UNPLUG_SCRATCH" ||
    cannot "$UNPLUG_VOLUME is not on the node's bounded volume $UNPLUG_SCRATCH"
  for fill_other in / /boot /etc /usr /var /tmp "$HOME" "$PWD"; do
    if same_volume "$UNPLUG_VOLUME" "$fill_other"; then
      cannot "$UNPLUG_VOLUME is on one volume with $fill_other: only a volume apart is filled"
    fi
  done
  measure || cannot "cannot tell how much is free on $UNPLUG_VOLUME"
  [ "$fill_free" -gt "$UNPLUG_FREE" ] ||
    cannot "$fill_free bytes are free on $UNPLUG_VOLUME: there is nothing to fill"
}

# Subvolumes of one pool have device numbers of their own, and one device behind them.
same_volume() { # PATH OTHER
  [ -e "$2" ] || return 1
  [ "$(stat -L -c %d "$1")" != "$(stat -L -c %d "$2")" ] || return 0
  fill_source=$(device_of "$1")
  case $fill_source in
  /*) [ "$fill_source" = "$(device_of "$2")" ] ;;
  *) return 1 ;;
  esac
}
device_of() { df -P "$1" 2>/dev/null | sed -n '2s/ .*//p'; }

# measure: sets $fill_free to the bytes that this user can still take, and $fill_block. Blocks that
# are kept for root count for root alone.
measure() {
  if [ -z "${fill_blocks-}" ]; then
    fill_blocks=%a
    [ "$(id -u)" -ne 0 ] || fill_blocks=%f
  fi
  # shellcheck disable=SC2046 # split on purpose
  set -- $(stat -f -c "%S $fill_blocks" "$UNPLUG_VOLUME" 2>/dev/null)
  [ $# -eq 2 ] || return 1
  fill_block=$1
  fill_free=$(($1 * $2))
}

# ---- the verbs

probe() {
  check_volume
  facts free "$fill_free"
}

arm() {
  check_volume
  fill_folder=$UNPLUG_VOLUME/.unplug.${run_folder##*/}.$UNPLUG_FAULT
  [ ! -e "$fill_folder" ] || cannot "$fill_folder exists already"
  keep folder "$fill_folder"
  keep free "$fill_free"
}

fire() {
  mkdir -m 700 "$kept_folder" || return 1
  fill_up || return 1
  stat_of $$ || return 1
  keep_full "$proc_start" &
}

# fill_up: until `free` bytes or less are left. Asking anew each time: a file system takes blocks of
# its own for ours, and the target writes too.
fill_up() {
  fill_tries=0
  while :; do
    measure || not_so "cannot tell how much is free on $UNPLUG_VOLUME" || return 1
    [ "$fill_free" -gt "$UNPLUG_FREE" ] || return 0
    fill_tries=$((fill_tries + 1))
    [ "$fill_tries" -le 20 ] || not_so "$fill_free bytes are still free on $UNPLUG_VOLUME" || return 1
    take $(((fill_free - UNPLUG_FREE + fill_block - 1) / fill_block))
  done
}

# take BLOCKS: at once where the file system can, else written. What there was room for is taken
# also when not all of it was: the caller measures.
take() {
  fill_size=0
  [ ! -e "$kept_folder/fill" ] || fill_size=$(stat -c %s "$kept_folder/fill")
  fallocate -o "$fill_size" -l $(($1 * fill_block)) "$kept_folder/fill" 2>/dev/null ||
    dd if=/dev/zero of="$kept_folder/fill" bs="$fill_block" count="$1" oflag=append conv=notrunc 2>/dev/null ||
    :
}

# keep_full START: as long as the guard lives, which is this shell's $$, with that start.
# SAFETY: a keeper that nobody knows would fill again what undo has emptied: it is noted before it
# acts, or it does not act. Test: disk_fill.test (guard killed, healed at once).
keep_full() {
  read -r keeper_pid _ </proc/self/stat
  stat_of "$keeper_pid" || exit 1
  keeper_start=$proc_start
  boot_of_node
  remember "$keeper_pid" "$keeper_start" "$boot_id" || exit 1
  exec 5>&- # the guard's: who holds it open keeps a dead guard's pipe
  while alive "$boot_id" $$ "$1" && [ -d "$kept_folder" ]; do
    fill_up 2>/dev/null || :
    sleep 0.2
  done
}

verify() {
  fill_looks=0
  until looks_full; do
    fill_looks=$((fill_looks + 1))
    if [ "$fill_looks" -ge 10 ] || [ "$fill_ours" -eq 0 ]; then
      facts free "$df_free" ours "$fill_ours" write "$fill_write"
      not_so "$df_free bytes are free on $UNPLUG_VOLUME, and a write of $((UNPLUG_FREE + 1)) bytes: $fill_write"
      return 1
    fi
    sleep 0.1
  done
  facts free "$df_free" ours "$fill_ours" write "$fill_write"
}

# Other tools than fire's: df counts, and perl writes what should not fit.
looks_full() {
  fill_write='not tried' fill_ours=0
  if [ -e "$kept_folder/fill" ]; then fill_ours=$(du -k "$kept_folder/fill" | cut -f 1); fi
  fill_ours=$((fill_ours * 1024))
  df_free=$(df -P -k "$UNPLUG_VOLUME" | awk 'NR == 2 { printf "%.0f", $4 * 1024 }')
  [ "$fill_ours" -gt 0 ] && [ "$df_free" -le "$UNPLUG_FREE" ] || return 1
  fill_write=$(try_to_write)
  [ "$fill_write" = ENOSPC ]
}

# The name is one of ours and goes at once, also when the attempt is ended: undo removes it.
try_to_write() {
  perl -MFcntl -MErrno -MIO::Handle -e '
    my ($path, $left) = ($ARGV[0], $ARGV[1] + 1);
    sub done { print $!{ENOSPC} ? "ENOSPC" : "failed: $!"; unlink $path; exit 0 }
    sysopen(my $file, $path, O_WRONLY | O_CREAT | O_EXCL, 0600) or done();
    while ($left > 0) {
      my $n = syswrite($file, "\0" x ($left < 65536 ? $left : 65536));
      defined $n or done();
      $left -= $n;
    }
    $file->sync && close($file) or done();
    unlink $path;
    print "done"' "$kept_folder/attempt.$$" "$UNPLUG_FREE"
}

# ---- undo

# Truncating comes before removing: it gives the space back also where a removal needs some.
revert() {
  each_remembered end_keeper
  [ -d "$kept_folder" ] || return 0
  if [ -e "$kept_folder/fill" ]; then : >"$kept_folder/fill"; fi
  rm -f "$kept_folder/fill" "$kept_folder"/attempt.*
  rmdir "$kept_folder"
}

end_keeper() { # PID START BOOT
  if alive "$3" "$1" "$2"; then end_tree "$1"; fi
  keeper_tries=0
  while alive "$3" "$1" "$2"; do
    keeper_tries=$((keeper_tries + 1))
    [ "$keeper_tries" -le 40 ] || not_so "the keeper (pid $1) does not end; by hand: kill -9 $1" || return 1
    sleep 0.05
  done
}

# How much is free now is the target's business as well: both numbers are told, and what was ours
# must be gone.
verify_reverted() {
  keeper_left=
  each_remembered note_keeper
  df_free=$(df -P -k "$UNPLUG_VOLUME" | awk 'NR == 2 { printf "%.0f", $4 * 1024 }')
  facts free_before "$kept_free" free "$df_free" keeper "${keeper_left# }"
  [ -z "$keeper_left" ] || not_so "the keeper still runs; by hand: kill -9$keeper_left" || return 1
  [ ! -e "$kept_folder" ] || not_so "$kept_folder is still there; by hand: rm -r '$kept_folder'"
}
note_keeper() { # PID START BOOT
  if alive "$3" "$1" "$2"; then keeper_left="$keeper_left $1"; fi
}
