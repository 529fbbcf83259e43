#!/bin/sh
# What an interface of a Linux host has, as an undo needs it: noted by arm, put back, compared.
#
# When an interface goes down the kernel drops its routes in all tables, its permanent neighbours
# and its IPv6 addresses. When it comes up the kernel makes a part of that anew. So an undo looks at
# what is there then: it adds what is missing, and takes away what the kernel made and was not
# there. What others added stays, and is named as a difference.
#
# It is read wherever the prelude is read for an injector, and like it only defines functions.
#
# State is text: a line for each thing, its kind first, the rest as `ip` takes it.
#   link ..., address inet6 fd00::1/64 ..., neighbour ..., proxy ..., route -6 ..., qdisc ...

# shellcheck disable=SC2034,SC2154 # what was kept is sourced; answers are read by injectors

# ---- looking

# `ip -o` joins the lines of one thing with a backslash.
interface_link() { # DEV
  ip -o link show dev "$1" | sed 's/^[0-9]*: /link /; s/ state [A-Z]*//; s/\\//g; s/  */ /g; s/ $//'
}

# Words that only the kernel may set are no words of `ip addr add`; the label stands without its word.
interface_addresses() { # DEV
  ip -o addr show dev "$1" | awk '{
    line = "address " $3
    for (i = 4; i <= NF; i++) {
      word = $i
      if (word ~ /^(tentative|optimistic|dadfailed|secondary|deprecated|dynamic|stable-privacy)$/) continue
      gsub(/\\/, "", word)
      if (word == "") continue
      if ($3 == "inet" && ($(i + 1) == "valid_lft" || $i ~ /\\$/)) word = "label " word
      sub(/sec$/, "", word)
      line = line " " word
    }
    print line
  }'
}

# Neighbours that were learnt come back by themselves.
interface_neighbours() { # DEV
  ip -o neigh show dev "$1" nud permanent | sed 's/ *PERMANENT *$//; s/^/neighbour /'
  ip -o neigh show proxy dev "$1" | sed 's/ .*//; s/^/proxy /'
}

all_routes() { # -4 or -6
  ip "$1" -o route show table all |
    sed 's/\\//g; s/ linkdown//g; s/ dead//g; s/\( expires [0-9]*\)sec/\1/; s/[[:space:]][[:space:]]*/ /g; s/ $//' |
    sed "s/^/route $1 /"
}

# By the words "dev DEV", which a route with several next hops has too.
interface_routes() { # DEV
  for interface_family in -4 -6; do
    all_routes "$interface_family"
  done | awk -v dev="$1" '{ for (i = 1; i < NF; i++) if ($i == "dev" && $(i + 1) == dev) { print; next } }'
}

# How often it is referred to says nothing about what it does.
interface_qdisc() { # DEV
  tc -d qdisc show dev "$1" | sed 's/ refcnt [0-9]*//; s/  */ /g; s/ $//'
}

interface_now() { # DEV
  interface_link "$1"
  interface_addresses "$1"
  interface_neighbours "$1"
  interface_routes "$1"
  interface_qdisc "$1"
}

# ---- keeping

# keep_interface DEV (in arm). What could not be put back as it was is refused. An interface that came up
# a moment ago does not have all of its own yet.
keep_interface() {
  refuse_what_cannot_be_kept "$1"
  wait_for_link_local "$1"
  wait_for_addresses "$1"
  now
  keep at "$now_cs"
  keep flags "$(interface_link "$1")"
  keep addresses "$(interface_addresses "$1")"
  keep neighbours "$(interface_neighbours "$1")"
  keep routes "$(interface_routes "$1")"
  keep qdisc "$(interface_qdisc "$1")"
}

refuse_what_cannot_be_kept() { # DEV
  [ -z "$(ip nexthop show dev "$1" 2>/dev/null)" ] ||
    cannot "$1 has next hop objects (ip nexthop): they would be lost"
  if ip -o addr show dev "$1" | grep -Eq ' temporary | scope global .*stable-privacy'; then
    cannot "$1 has addresses that only the kernel can make (temporary, stable-privacy)"
  fi
  for interface_address in $(ip -o -6 addr show dev "$1" | awk '{ sub("/.*", "", $4); print $4 }'); do
    interface_other=$(ip -6 -o route show table all | grep -F " src $interface_address " | grep -Fv " dev $1 " | head -n 1)
    [ -z "$interface_other" ] || cannot "a route of another interface has an address of $1: $interface_other"
  done
}

# ---- putting back

# interface_changes DEV: one line for each difference, "missing" or "extra" before it. Lifetimes run
# on, so they are shorter by now, and what has run out is not missed.
#
# What the kernel adds to its table `local` is no difference: such a route follows an address, some time
# after it where IPv6 looks for a second owner first, and the address is compared. One that is missing
# is named: its address is there, and of no use.
interface_changes() {
  now
  {
    printf '%s\n' "$kept_flags" "$kept_addresses" "$kept_neighbours" "$kept_routes" "$kept_qdisc" | sed 's/^/was /'
    interface_now "$1" | sed 's/^/is /'
  } | awk -v gone=$(((now_cs - kept_at) / 100)) '
    NF < 2 { next }
    {
      is = ($1 == "is")
      sub(/^[a-z]* /, "")
      over = 0
      line = ""
      key = ""
      for (i = 1; i <= NF; i++) {
        word = $i
        if (i > 1 && $(i - 1) ~ /^(valid_lft|preferred_lft|expires)$/ && word ~ /^[0-9]+$/) {
          if (!is) word = word > gone ? word - gone : 0
          if (word == 0 && $(i - 1) != "preferred_lft") over = 1
          line = line " " word
          key = key " some"
        } else {
          line = line " " word
          key = key " " word
        }
      }
      if (is) here[key] = line
      else if (!over) { order[++n] = key; was[key] = line }
    }
    END {
      for (i = 1; i <= n; i++) if (!(order[i] in here)) print "missing" was[order[i]]
      for (key in here) if (!(key in was) && key !~ / table local proto kernel /) print "extra" here[key]
    }'
}

# put_back DEV: up, and all that was there. It looks before it acts, so it may run any number of times.
put_back() {
  ip link set dev "$1" up || return 1
  interface_changes "$1" | interface_batch address "$1" | ip -force -batch - 2>/dev/null || :
  interface_all=$(interface_changes "$1")
  for interface_family in -4 -6; do
    printf '%s\n' "$interface_all" | interface_batch "route $interface_family" "$1" |
      ip "$interface_family" -force -batch - 2>/dev/null || :
  done
  printf '%s\n' "$interface_all" | interface_batch neighbour "$1" | ip -force -batch - || :
  printf '%s\n' "$interface_all" | interface_batch proxy "$1" | ip -force -batch - || :
}

# interface_batch KIND DEV: differences -> lines of `ip -batch`. A route to a gateway needs the one
# that leads to the gateway first. The kernel keeps its table `local` by itself.
interface_batch() {
  awk -v kind="$1" -v dev="$2" '
    index($0, "missing " kind " ") != 1 && index($0, "extra " kind " ") != 1 { next }
    {
      missing = ($1 == "missing")
      rest = substr($0, index($0, kind " ") + length(kind) + 1)
      if (kind == "address") {
        family = rest
        sub(/ .*/, "", family)
        sub(/^[^ ]* /, "", rest)
        if (missing) print "addr add " rest " dev " dev
        else if (family == "inet6" && rest ~ / scope link /) {
          sub(/ .*/, "", rest)
          print "addr del " rest " dev " dev
        }
      }
      if (kind == "neighbour" && missing) print "neigh replace " rest " dev " dev " nud permanent"
      if (kind == "proxy" && missing) print "neigh add proxy " rest " dev " dev
      if (kind !~ /^route/ || rest ~ / table local proto kernel /) next
      if (!missing) { if (rest ~ / proto kernel /) print "route del " rest }
      else if (rest ~ / nexthop /) late[++n] = "route replace " rest
      else if (rest ~ / via /) late[++n] = "route add " rest
      else print "route add " rest
    }
    END { for (i = 1; i <= n; i++) print late[i] }'
}

# restore_interface DEV (in revert): as it was. A route that names an IPv6 address of ours as its source is
# refused until that address is of use, so routes are looked at once more then.
restore_interface() {
  put_back "$1" && wait_for_addresses "$1" && put_back "$1"
}

# An IPv6 address is of no use, and its routes not all there, before the kernel has looked for a
# second owner of it: a second or two. One that has such an owner stays tentative for ever.
wait_for_addresses() { # DEV
  wait_tries=0
  while [ "$wait_tries" -lt 30 ] && ip -o -6 addr show dev "$1" tentative | grep -qv ' dadfailed '; do
    sleep 0.1
    wait_tries=$((wait_tries + 1))
  done
}

# The kernel gives an interface its link-local address a moment after the carrier, where it gives it one
# at all. Somebody may have taken it away: then the wait is in vain, and ends.
wait_for_link_local() { # DEV
  wait_settings=/proc/sys/net/ipv6/conf/$1
  { read -r wait_off <"$wait_settings/disable_ipv6" && read -r wait_mode <"$wait_settings/addr_gen_mode"; } 2>/dev/null || return 0
  [ "$wait_off" = 0 ] && [ "$wait_mode" != 1 ] || return 0
  wait_tries=0
  while [ "$wait_tries" -lt 15 ] && [ -z "$(ip -o -6 addr show dev "$1" scope link)" ]; do
    sleep 0.1
    wait_tries=$((wait_tries + 1))
  done
}

# ---- proofs

# admin_up DEV: IFF_UP, as /sys has it, not `ip`.
admin_up() {
  read -r admin_flags <"/sys/class/net/$1/flags" && [ $((admin_flags & 1)) -eq 1 ]
}

# Sets $carrier: 1, 0, or "down" where the interface itself is down.
carrier_of() {
  carrier=down
  { read -r carrier <"/sys/class/net/$1/carrier"; } 2>/dev/null || carrier=down
}

# answers DEV ADDRESS: a probe that may leave by that interface only. Sets $answered. A ping that could
# not even ask (2) has no answer either; one that is not there proves nothing.
answers() {
  answered=yes
  as_root ping -n -q -c 1 -w 1 -I "$1" "$2" >/dev/null 2>&1 || {
    case $? in
    1 | 2) answered=no ;;
    *) cannot "ping does not work on this node" ;;
    esac
  }
  [ "$answered" = yes ]
}

# answers_arp DEV ADDRESS: asked on the wire, and without an address of our own (RFC 5227): says whether
# the link carries frames there and back, whatever IP has and the rules do. Sets $arp, and $arp_mac.
answers_arp() {
  arp_mac=$(as_root perl -e "$arp_probe" "$1" "$2") || cannot "a packet socket does not work on this node"
  arp=yes
  [ -n "$arp_mac" ] || arp=no
  [ "$arp" = yes ]
}
# shellcheck disable=SC2016 # perl's
arp_probe='
use strict;
use Socket;
use Time::HiRes qw(time);
my ($dev, $address) = ($ARGV[0], inet_aton($ARGV[1]));
my ($AF_PACKET, $ETH_ARP) = (17, 0x806);
sub sys_of { open my $f, "<", "/sys/class/net/$dev/$_[0]" or die "$dev: $!"; my $l = <$f>; chomp $l; $l }
my $mac = pack "H12", sys_of("address") =~ tr/://dr;
socket my $wire, $AF_PACKET, SOCK_RAW, unpack("S", pack "n", $ETH_ARP) or die "packet socket: $!";
bind $wire, pack "S n i S C C x8", $AF_PACKET, $ETH_ARP, sys_of("ifindex"), 0, 0, 0 or die "packet socket: $!";
my $ask = "\xff" x 6 . $mac . pack("n n n C C n", $ETH_ARP, 1, 0x800, 6, 4, 1) . $mac . "\0" x 10 . $address;
my $answer = "";
for (1 .. 3) {
  send $wire, $ask, 0;
  my $until = time + 0.2;
  while (!$answer && (my $left = $until - time) > 0) {
    my $ready = "";
    vec($ready, fileno $wire, 1) = 1;
    next if select($ready, undef, undef, $left) < 1;
    recv $wire, my $bytes, 2048, 0;
    next if length $bytes < 42 or unpack("x20 n", $bytes) != 2;
    $answer = unpack "H12", substr $bytes, 22, 6 if substr($bytes, 28, 4) eq $address;
  }
  last if $answer;
}
print "$answer\n";
'

# Sets $dev, $own and $peer, this end's interface, and both addresses without their prefix. Asked in every
# verb: where the guard reads a script, the parameters are not there yet.
link_ends() {
  dev=$UNPLUG_LINK_INTERFACE own=${UNPLUG_LINK_ADDRESS%/*} peer=${UNPLUG_LINK_PEER%/*}
}

# need_whole_link DEV PEER (in probe and arm): up, with carrier, and the other end answers: else no
# proof could tell our fault from what was broken before.
need_whole_link() {
  case $1/$2 in /* | */) cannot "the link has no interface or no peer" ;; esac
  ip link show dev "$1" >/dev/null 2>&1 || cannot "there is no interface $1 on this node"
  { read -r link_index <"/sys/class/net/$1/ifindex"; } 2>/dev/null || link_index=none
  case $(ip -o link show dev "$1") in
  "$link_index: "*) ;;
  *) cannot "/sys does not show the interfaces of this network namespace" ;;
  esac
  admin_up "$1" || cannot "$1 is down already, and not by us"
  carrier_of "$1"
  [ "$carrier" = 1 ] || cannot "$1 has no carrier: the link is broken already"
  answers "$1" "$2" || cannot "$2 does not answer over $1: the link is broken already"
}

# Nothing that we do to an interface outlives a reboot: after one there is nothing to put back.
same_boot() {
  boot_of_node
  [ "$boot_id" = "$boot" ]
}

# verify_link_whole DEV PEER: the acting end has all that was kept, and each end hears the other.
verify_link_whole() {
  carrier_of "$1"
  answers "$1" "$2" || :
  difference=
  if [ -n "${kept_flags-}" ] && same_boot; then difference=$(interface_changes "$1" | sort | head -n 1); fi
  facts role "$UNPLUG_ROLE" interface "$1" carrier "$carrier" answered "$answered" difference "$difference"
  [ -z "$difference" ] || not_so "$1 is not what it was: $difference" || return 1
  [ "$carrier" = 1 ] || not_so "$1: carrier is $carrier, not 1" || return 1
  [ "$answered" = yes ] || not_so "$2 does not answer over $1"
}
