#!/bin/sh
# link_flap: the near end's interface goes down and comes up again, until the undo. Whenever it is up it
# has all that it had before.
#
# fire only starts the flapping, in a child that the guard ends before it undoes. The proof is the
# kernel's own count of carrier changes, at either end.
# shellcheck disable=SC2154,SC2317 # set by the prelude and interface.sh; flap is called by name

probe() {
  link_ends
  need_root
  need_tools ip tc ping awk sed grep
  seconds_of_a_cycle
  need_whole_link "$dev" "$peer"
  changes_of "$dev" || cannot "this kernel does not count the carrier changes of $dev"
  facts interface "$dev" peer "$peer" carrier_changes "$changes"
}

# A proof must see a whole cycle, and the last one begins when the hold ends: it must be over before the
# guard's hard limit, which is margin and lease later, 5 s in a lab of short leases.
seconds_of_a_cycle() {
  cycle=0
  for part in "${UNPLUG_DOWN-}" "${UNPLUG_UP-}"; do
    seconds "$part" || cannot "down and up are durations, not '$part'"
    [ "$centis" -gt 0 ] || cannot "down and up are some time, not none"
    cycle=$((cycle + centis))
  done
  [ "$cycle" -le 200 ] || cannot "down and up together are over 2 s: no proof has the time to see both"
}

arm() {
  link_ends
  seconds_of_a_cycle
  need_whole_link "$dev" "$peer"
  keep_interface "$dev"
}

fire() { in_background flap; }

flap() {
  link_ends
  while guarded; do
    ip link set dev "$dev" down
    sleep "$UNPLUG_DOWN"
    guarded || return
    sleep "$UNPLUG_UP" & # it is up from the first moment of put_back
    flap_up=$!
    put_back "$dev"
    wait "$flap_up"
  done
}

changes_of() { # DEV: sets $changes
  { read -r changes <"/sys/class/net/$1/carrier_changes"; } 2>/dev/null
}

# From now on, not from an earlier sample: what happened before, a fault or an undo, is no proof.
verify() {
  link_ends
  seconds_of_a_cycle
  changes_of "$dev"
  first=$changes
  now
  # On a busy machine a cycle takes longer than it should.
  look_until=$((now_cs + cycle + 250))
  while [ $((changes - first)) -lt 2 ] && [ "$now_cs" -lt "$look_until" ]; do
    sleep 0.05
    changes_of "$dev"
    now
  done
  facts role "$UNPLUG_ROLE" interface "$dev" from "$first" to "$changes"
  [ $((changes - first)) -ge 2 ] || not_so "$dev: carrier changed $((changes - first)) times in a whole cycle"
}

revert() {
  link_ends
  same_boot || return 0
  restore_interface "$dev"
}

verify_reverted() {
  link_ends
  changes_of "$dev"
  first=$changes
  verify_link_whole "$dev" "$peer" || return 1
  changes_of "$dev"
  [ "$changes" = "$first" ] || not_so "$dev: its carrier still changes"
}
