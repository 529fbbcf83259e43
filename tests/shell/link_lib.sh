#!/bin/sh
# What the tests of link injectors share: two ends of a cable in network namespaces of their own, and
# foreign things on the near end that no undo may lose.
#
# The test runs itself again in namespaces of its own (user, mounts, network, pids): that is the near end. The far end is
# a process that holds a network namespace below it. All of it is gone when the test is.
# shellcheck disable=SC2034,SC2154 # tests read what is set here

if [ -z "${IN_LINK_TEST-}" ]; then
  unshare --user --map-root-user --net --mount --pid --mount-proc --fork true 2>/dev/null || {
    echo "no user and network namespaces here"
    exit 77
  }
  for tool in ip tc nft ping python3; do
    command -v "$tool" >/dev/null || {
      echo "$tool is not installed"
      exit 77
    }
  done
  IN_LINK_TEST=yes exec unshare --user --map-root-user --net --mount --pid --mount-proc --fork --kill-child sh "$0" "$@"
fi
# shellcheck source=tests/shell/lib.sh
. "$(dirname "$0")/lib.sh"

cable=tb0 near_address=10.78.0.1 far_address=10.78.0.2

make_cable() {
  mount -t sysfs sysfs /sys || exit 99
  ip link set lo up
  mkfifo "$scratch/far.ready"
  # shellcheck disable=SC2016 # for that sh
  unshare --net --mount sh -c 'mount -t sysfs sysfs /sys && echo yes >"$1" && exec sleep 600' sh "$scratch/far.ready" &
  far_end=$!
  hold "$far_end"
  read -r far_is_ready <"$scratch/far.ready"
  at_far ip link set lo up
  lay_cable
  plant_foreign_things
  eventually 10 addresses_settled || fail "IPv6 addresses stay tentative"
  ip -6 route add fd92::/64 dev tb0 src fd78::1 # not before its address is of use
}
# $cable, between $near_address and $far_address: up, and not a moment old.
lay_cable() {
  ip link add name "$cable" mtu 1450 type veth peer name "$cable" netns "$far_end" || exit 99
  at_far ip link set dev "$cable" mtu 1450
  at_far ip addr add "$far_address/30" dev "$cable"
  at_far ip link set dev "$cable" up
  ip addr add "$near_address/30" dev "$cable"
  ip link set dev "$cable" up
}
# The far end's node has a folder of the run of its own: nothing is armed there.
at_far() { nsenter -t "$far_end" --net --mount --wd="${far_run:-/}" "$@"; }
new_link_run() { # NAME
  far_run=$scratch/far-$1
  new_run "$1"
  cp -R "$run" "$far_run"
}
# The kernel gives an interface its link-local address some time after it has a carrier.
addresses_settled() { settled_at '' && settled_at at_far; }
settled_at() {
  [ -n "$($1 ip -6 -o addr show dev "$cable" scope link)" ] && [ -z "$($1 ip -6 -o addr show tentative)" ]
}

# What someone else has set up: in every corner that the kernel clears when an interface goes down.
plant_foreign_things() {
  ip addr add 10.78.0.5/30 dev tb0 label tb0:x
  ip addr add 10.81.0.1/24 dev tb0
  ip addr add 10.81.0.2/24 dev tb0 # secondary
  ip addr add 10.82.0.1/24 dev tb0 noprefixroute metric 50
  ip addr add 10.83.0.1 peer 10.83.0.9 dev tb0
  ip addr add fd78::1/64 dev tb0
  ip addr add fd79::1/64 dev tb0 nodad noprefixroute
  ip addr add fd80::1/64 dev tb0 valid_lft 3600 preferred_lft 1800
  ip route add 10.90.0.0/16 via "$far_address" dev tb0 metric 77 mtu lock 1400
  ip route add 10.90.0.0/16 via "$far_address" dev tb0 metric 78
  ip route add 10.91.0.0/16 dev tb0 table 55
  ip route add 10.92.0.0/16 via 10.200.0.1 dev tb0 onlink proto static
  ip -6 route add fd90::/64 dev tb0 metric 9
  ip -6 route add fd91::/64 via fd78::2 dev tb0 table 55
  ip rule add from 10.81.0.0/24 table 55
  ip neigh add 10.78.0.6 lladdr 02:00:00:00:00:09 dev tb0 nud permanent
  ip -6 neigh add fd78::9 lladdr 02:00:00:00:00:09 dev tb0 nud permanent router
  ip neigh add proxy 10.78.0.77 dev tb0
  tc qdisc add dev tb0 root handle 7: tbf rate 50mbit burst 10k latency 50ms
  nft add table inet foreign
  nft add chain inet foreign in '{ type filter hook input priority 0; }'
  nft add rule inet foreign in ip saddr 192.0.2.1 drop
}

snapshot() { # NAME: of both ends
  python3 "$root/tests/e2e/node_snapshot.py" >"$scratch/near.$1" || fail "no snapshot"
  at_far python3 "$root/tests/e2e/node_snapshot.py" >"$scratch/far.$1" || fail "no snapshot"
}
same_as() { # BEFORE NOW
  snapshot "$2"
  for same_end in near far; do
    python3 "$root/tests/e2e/node_snapshot.py" --compare "$scratch/$same_end.$1" "$scratch/$same_end.$2" >"$scratch/changes" ||
      fail "$UNPLUG_FAULT: the $same_end end is not what it was: $(head -n 5 "$scratch/changes")"
  done
}

# thorough: what differs between shells is a fault's whole life; the rest is tried under the first of them,
# and under each in a soak.
thorough() {
  : "${first_shell=$sh}"
  [ "$sh" = "$first_shell" ] || [ "${UNPLUG_SOAK-}" = yes ]
}

# aim_link INJECTOR FAULT: the VARS that both roles have.
aim_link() {
  injector=$1
  UNPLUG_FAULT=$2 UNPLUG_ROOT_BY=already
  export UNPLUG_FAULT UNPLUG_ROOT_BY UNPLUG_ROLE UNPLUG_LINK_INTERFACE UNPLUG_LINK_ADDRESS UNPLUG_LINK_PEER
  be_near
}
be_near() { UNPLUG_ROLE=near UNPLUG_LINK_INTERFACE=$cable UNPLUG_LINK_ADDRESS=$near_address/30 UNPLUG_LINK_PEER=$far_address/30; }
be_far() { UNPLUG_ROLE=far UNPLUG_LINK_INTERFACE=$cable UNPLUG_LINK_ADDRESS=$far_address/30 UNPLUG_LINK_PEER=$near_address/30; }

# says MOMENT STATUS VERB: at the near end. far_says: at the far one.
says() {
  be_near
  verb "$injector" "$3" >"$scratch/said" 2>"$scratch/err"
  said_status=$?
  [ "$said_status" -eq "$2" ] || fail "$UNPLUG_FAULT, near, $1: $3 ended $said_status, not $2: $(cat "$scratch/said" "$scratch/err")"
}
far_says() {
  be_far
  # shellcheck disable=SC2086
  at_far $sh sh/verb.sh "$injector" "$3" >"$scratch/said" 2>"$scratch/err"
  said_status=$?
  be_near
  [ "$said_status" -eq "$2" ] || fail "$UNPLUG_FAULT, far, $1: $3 ended $said_status, not $2: $(cat "$scratch/said" "$scratch/err")"
}
both_say() {
  says "$@"
  far_says "$@"
}
# both_come_to_say SECONDS STATUS VERB: an effect may need a moment.
come_to_say() {
  be_near
  eventually "$1" status_is "$2" "$3" || fail "$UNPLUG_FAULT: near $3 does not come to $2: $(cat "$scratch/said" "$scratch/err")"
}
status_is() {
  verb "$injector" "$2" >"$scratch/said" 2>"$scratch/err"
  [ "$?" -eq "$1" ]
}

begin_link_fault() {
  both_say "before" 0 probe
  says "before" 0 arm
  open_guard 60 100
  armed || fail "$UNPLUG_FAULT: not armed: $(cat "$channel/err")"
  both_say "before fire" 1 verify
}
fire_it() {
  tell_guard fire
  eventually 15 said "$channel/lines" '"\(not_\)\{0,1\}fired"' || fail "$UNPLUG_FAULT: no answer to fire"
  expect "$UNPLUG_FAULT: fired" said "$channel/lines" '"fired"'
}
end_it() {
  tell_guard revert
  eventually 20 exists "$UNPLUG_FAULT/undone" || fail "$UNPLUG_FAULT: not over: $(cat "$UNPLUG_FAULT/guard.log" "$UNPLUG_FAULT"/guard.1/errors)"
  lose_channel
  expect "$UNPLUG_FAULT: nothing of the guard is left" eventually 5 nothing_left "$UNPLUG_FAULT"
}

# ---- what every link injector must stand

# As heal and sudo call it: all that the undo knows is in the fault's folder.
# shellcheck disable=SC2086
with_nothing() { env -i PATH="$PATH" HOME="$HOME" UNPLUG_SH="$sh" $sh "$@"; }

# The undo is asked for a second time, by a guard of its own: nothing is left to do, nothing is done.
revert_again() {
  rm "$UNPLUG_FAULT/undone"
  with_nothing "$UNPLUG_FAULT/guard.sh" undo hand >"$scratch/again" 2>&1 || fail "$UNPLUG_FAULT: the second undo failed: $(cat "$scratch/again")"
  expect "$UNPLUG_FAULT: undone again" exists "$UNPLUG_FAULT/undone"
  same_as before "again"
}

never_fired() { # reverted without fire
  aim_link "$1" "$2"
  begin_link_fault
  end_it
  same_as before unfired
}

guard_killed() {
  aim_link "$1" "$2"
  begin_link_fault
  fire_it
  come_to_say 10 0 verify
  guard_owner
  kill -9 "$guard_pid"
  eventually 5 gone "$guard_pid" "$guard_start"
  far_says "the guard is dead" "$3" verify
  (cd "$HOME" && with_nothing -s -- undo "${run##*/}" <"$root/injectors/sh/heal.sh") >"$scratch/healed" 2>&1
  expect "$UNPLUG_FAULT: heal says so" said "$scratch/healed" '"state":"reverted"'
  lose_channel
  expect "$UNPLUG_FAULT: nothing of the guards is left" eventually 5 nothing_left "$UNPLUG_FAULT"
  both_say "healed" 0 verify_reverted
  same_as before healed
}

refused() {
  aim_link "$1" refused
  SSH_CONNECTION="$far_address 50000 $near_address 22"
  export SSH_CONNECTION
  says "the control interface" 3 probe
  says "the control interface" 3 arm
  expect "$1: says why" said "$scratch/err" 'tb0 carries the control path'
  unset SSH_CONNECTION
  UNPLUG_ROOT_BY=none
  says "without root" 4 probe
  UNPLUG_ROOT_BY=already
}

# A link that is broken before would prove nothing.
broken_before() {
  aim_link "$1" broken
  at_far ip link set dev tb0 down
  says "the far end is down" 3 probe
  says "the far end is down" 3 arm
  at_far ip link set dev tb0 up
  eventually 10 addresses_settled
  expect_not "$1: nothing is armed" exists broken
}
