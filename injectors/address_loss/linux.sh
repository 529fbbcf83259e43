#!/bin/sh
# address_loss: the near end's interface loses the IPv4 address of its link. Undo gives back the address and
# all that went with it.
#
# With the first address of a subnet the kernel drops the others of it, or makes one of them the first
# (promote_secondaries). It drops every route that has one of them as its source, of any interface, in any
# table. interface.sh puts most of that back. What is left for this script is the order of the
# addresses, which decides what is the source of what is sent, and routes of other interfaces.
#
# fire and undo speak to the kernel by `ip`; the proofs read its table of local addresses, bind a socket,
# and ask on the wire.
# shellcheck disable=SC2154 # the prelude and interface.sh set what they answer

probe() {
  link_ends
  need_root
  need_tools ip tc ping perl awk sed grep
  need_whole_link "$dev" "$peer"
  answers_arp "$dev" "$peer" || cannot "$peer answers no ARP over $dev: nothing could be proved"
  if [ "$UNPLUG_ROLE" = near ]; then find_address; fi
  facts interface "$dev" peer "$peer" address "$own"
}

# Sets $address, as `ip addr del` takes it: with its own prefix, or the other end of it.
find_address() {
  address=$(order_of "$dev" | sed 's/ secondary$//' | awk -v own="$own" '{ bare = $1; sub(/\/.*/, "", bare) } bare == own')
  case $address in
  '') cannot "$dev does not have the IPv4 address $own" ;;
  *"$newline"*) cannot "$dev has the address $own more than once" ;;
  esac
  other=$(ip -o -4 addr show | awk -v dev="$dev" -v own="$own" '{ bare = $4; sub(/\/.*/, "", bare) } bare == own && $2 != dev { print $2 }')
  [ -z "$other" ] || cannot "$own is an address of $other too: it would not be gone"
}

# The IPv4 addresses of DEV, a line each, in the kernel's order.
order_of() { # DEV
  ip -o -4 addr show dev "$1" | awk '{ print $4 ($5 == "peer" ? " peer " $6 : "") (/ secondary / ? " secondary" : "") }'
}

# Routes of other interfaces that have an IPv4 address of DEV as their source.
routes_elsewhere() { # DEV
  {
    ip -o -4 addr show dev "$1" | awk '{ sub(/\/.*/, "", $4); print "own", $4 }'
    all_routes -4
  } | awk -v dev="$1" '
    $1 == "own" { own[$2]; next }
    {
      here = there = 0
      for (i = 1; i < NF; i++) {
        if ($i == "dev" && $(i + 1) == dev) here = 1
        if ($i == "src" && $(i + 1) in own) there = 1
      }
      if (there && !here) print
    }'
}

arm() {
  link_ends
  need_whole_link "$dev" "$peer"
  find_address
  keep_interface "$dev"
  keep address "$address"
  keep order "$(order_of "$dev")"
  keep elsewhere "$(routes_elsewhere "$dev")"
}

# shellcheck disable=SC2086 # the address may be three words
fire() { ip addr del $kept_address dev "$UNPLUG_LINK_INTERFACE"; }

# As the kernel looks an address up, not as `ip` lists it.
is_local() { # ADDRESS
  awk -v own="$1" '$1 == "|--" { here = ($2 == own) } here && $1 == "/32" && $3 == "LOCAL" { found = 1 } END { exit !found }' \
    /proc/net/fib_trie
}

# Where any address may be bound to (ip_nonlocal_bind), that says nothing.
can_bind() { # ADDRESS
  read -r bind_any </proc/sys/net/ipv4/ip_nonlocal_bind
  [ "$bind_any" = 0 ] || return 1
  perl -MSocket -e 'socket(my $s, PF_INET, SOCK_DGRAM, 0) or die; exit(bind($s, pack_sockaddr_in(0, inet_aton($ARGV[0]))) ? 0 : 1)' "$1"
}

verify() {
  link_ends
  carrier_of "$dev"
  if [ "$UNPLUG_ROLE" = near ]; then verify_near; else verify_far; fi
}

verify_near() {
  local=no bound_to=no
  if is_local "$own"; then local=yes; fi
  if can_bind "$own"; then bound_to=yes; fi
  answers_arp "$dev" "$peer" || :
  facts role near interface "$dev" carrier "$carrier" old "${kept_address-}" new "$(order_of "$dev")" \
    local "$local" bound "$bound_to" arp "$arp"
  [ "$local" = no ] || not_so "$own is a local address" || return 1
  [ "$bound_to" = no ] || not_so "a socket can be bound to $own" || return 1
  [ "$carrier" = 1 ] || not_so "$dev: carrier is $carrier, not 1: that is a link loss" || return 1
  [ "$arp" = yes ] || not_so "$peer answers no ARP over $dev: that is a link loss"
}

# Who has lost its address does not answer ARP for it any more: the carrier is what there is of the link.
verify_far() {
  answers "$dev" "$peer" || :
  answers_arp "$dev" "$peer" || :
  facts role far interface "$dev" carrier "$carrier" answered "$answered" arp "$arp"
  [ "$carrier" = 1 ] || not_so "$dev: carrier is $carrier, not 1: that is a link loss" || return 1
  [ "$answered" = no ] || not_so "$peer answers over $dev"
}

revert() {
  link_ends
  same_boot || return 0
  interface_changes "$dev" | interface_batch address "$dev" | ip -force -batch - 2>/dev/null || :
  order_routes=
  in_order || restore_order
  restore_interface "$dev" || return 1
  put_routes "$kept_elsewhere$newline$order_routes"
}

put_routes() { # LINES of all_routes -4: one that is there already is refused, and that is well
  printf '%s\n' "$1" | sed 's/^/missing /' | interface_batch "route -4" "$dev" | ip -4 -force -batch - 2>/dev/null || :
}

# The order of those that were kept: what others have added since stands where it stands.
in_order() {
  order_now=$(
    {
      printf '%s\n' "$kept_order" | sed 's/^/was /'
      order_of "$dev" | sed 's/^/is /'
    } | awk '
      { key = line = substr($0, index($0, " ") + 1); sub(/ secondary$/, "", key) }
      $1 == "was" { kept[key]; next }
      key in kept { print line }'
  )
  [ "$order_now" = "$kept_order" ]
}

# The first ones of their subnets become the last of all in turn, so that they stand as they stood in the
# end. The others are away meanwhile, or the kernel would make a first one of them. Sets
# $order_routes: what goes with an address is put back, others' too.
restore_order() {
  order_routes=$(interface_routes "$dev" && routes_elsewhere "$dev")
  {
    printf '%s\n' "$kept_order" | sed 's/^/was /'
    interface_addresses "$dev" | sed -n 's/^address inet /is /p'
  } | awk -v dev="$dev" '
    { kind = $1; sub(/^[a-z]* /, ""); key = $1 ($2 == "peer" ? " peer " $3 : "") }
    kind == "was" { kept[key]; if (/ secondary$/) after[++m] = key; else first[++n] = key; next }
    { line[key] = $0; if (!(key in kept)) after[++m] = key }
    function take(key) { if (key in line) print "addr del " key " dev " dev }
    function give(key) { if (key in line) print "addr add " line[key] " dev " dev }
    END {
      for (i = 1; i <= m; i++) take(after[i])
      for (i = 1; i <= n; i++) { take(first[i]); give(first[i]) }
      for (i = 1; i <= m; i++) give(after[i])
    }' | ip -force -batch - 2>/dev/null || :
}

verify_reverted() {
  link_ends
  verify_link_whole "$dev" "$peer" || return 1
  # A role that does not act has kept nothing; after a reboot, what was kept is gone.
  [ "$UNPLUG_ROLE" = near ] && same_boot || return 0
  order=same
  in_order || order=other
  lost=$(printf '%s\n' "$kept_elsewhere" | grep -Fvx -e "$(routes_elsewhere "$dev")" | head -n 1) || :
  facts role near interface "$dev" carrier "$carrier" answered "$answered" old "$kept_address" new "$(order_of "$dev")" \
    order "$order" lost "$lost"
  [ "$order" = same ] || not_so "$dev: its addresses are not in the order that was" || return 1
  [ -z "$lost" ] || not_so "missing $lost"
}
