#!/bin/sh
# link_block: the near end drops what comes from the peer (in), what goes to it (out), or both, in an
# nft table of its own. Undo deletes that table and touches no other.
#
# The proof goes past nft. A packet socket hears what arrives before any rule, and sends what
# no rule sees; a raw socket speaks and hears above the rules:
#
#              IP layer ── out ──> rules ──> wire          sent over IP, answer heard on the wire: out passes
#              IP layer <── in ─── rules <── wire          sent on the wire, answer heard over IP: in passes
#
# shellcheck disable=SC2154 # the prelude and interface.sh set what they answer

probe() {
  link_ends
  need_root
  need_tools ip ping perl
  good_parameters
  need_whole_link "$dev" "$peer"
  if [ "$UNPLUG_ROLE" = near ]; then
    need_tools nft
    # The kernel looks at it all and takes none of it.
    rules unplug_probe | as_root nft -c -f - || cannot "nft cannot work here: this kernel takes no such table"
  fi
  ask_both_ways
  [ "$arp" = yes ] || cannot "$peer answers no ARP over $dev: nothing could be proved"
  facts interface "$dev" peer "$peer" direction "$UNPLUG_DIRECTION"
}

good_parameters() {
  case $UNPLUG_DIRECTION in
  in | out | both) ;;
  *) cannot "direction is in, out or both, not '$UNPLUG_DIRECTION'" ;;
  esac
  case $own/$peer in
  *:*) cannot "$own, $peer: the proof speaks IPv4" ;;
  esac
}

arm() {
  link_ends
  good_parameters
  need_whole_link "$dev" "$peer"
  keep table "unplug_$(printf '%s_%s' "${run_folder##*/}" "$UNPLUG_FAULT" | tr -c 'a-zA-Z0-9' _)"
  table_is_there || case $? in 1) ;; *) cannot "nft does not list its tables" ;; esac
  [ "$there" = no ] || cannot "there is a table $kept_table already, and it is not ours"
}

# One transaction: all of it or nothing.
fire() {
  link_ends
  rules "$kept_table" | nft -f -
}

# Before connection tracking and address translation, after them on the way out: as the wire has it.
rules() { # TABLE
  printf 'table inet %s {\n' "$1"
  case $UNPLUG_DIRECTION in in | both)
    printf 'chain in { type filter hook prerouting priority -300; iifname "%s" ip saddr %s drop; }\n' "$dev" "$peer"
    ;;
  esac
  case $UNPLUG_DIRECTION in out | both)
    printf 'chain out { type filter hook postrouting priority 300; oifname "%s" ip daddr %s drop; }\n' "$dev" "$peer"
    ;;
  esac
  printf '}\n'
}

# Sets $there; 2 where nft itself cannot tell.
table_is_there() {
  there=unknown
  tables=$(as_root nft list tables) || return 2
  case "$newline$tables$newline" in
  *"${newline}table inet $kept_table$newline"*) there=yes ;;
  *) there=no && return 1 ;;
  esac
}

verify() {
  link_ends
  ask_both_ways
  answers "$dev" "$peer" || :
  facts role "$UNPLUG_ROLE" interface "$dev" arp "$arp" answered "$answered" wire "$wire" in "$in" out "$out"
  [ "$arp" = yes ] || not_so "$peer does not even answer ARP over $dev: that is no block" || return 1
  [ "$answered" = no ] || not_so "$peer answers over $dev" || return 1
  [ "$UNPLUG_ROLE" = near ] || return 0
  # Sent on the wire and heard on the wire: the far end answers, whatever the rules do.
  [ "$wire" = yes ] || not_so "$peer answers nothing on the wire of $dev: that is no block" || return 1
  case $UNPLUG_DIRECTION in
  in) want='no yes' ;;
  out) want='yes no' ;;
  both) want='no no' ;;
  esac
  [ "$in $out" = "$want" ] || not_so "in passes: $in, out passes: $out; with direction $UNPLUG_DIRECTION it should be: $want"
}

revert() {
  link_ends
  table_is_there
  case $there in
  yes) nft delete table inet "$kept_table" ;;
  no) : ;;
  *) not_so "nft does not list its tables" ;;
  esac
}

verify_reverted() {
  link_ends
  there=
  if [ "$UNPLUG_ROLE" = near ]; then table_is_there || :; fi
  ask_both_ways
  answers "$dev" "$peer" || :
  facts role "$UNPLUG_ROLE" interface "$dev" table "$there" answered "$answered" in "$in" out "$out"
  case $there in
  yes | unknown) not_so "the table $kept_table is there; by hand: nft delete table inet $kept_table" || return 1 ;;
  esac
  [ "$answered $in $out" = "yes yes yes" ] || not_so "$peer: answers $answered, in passes $in, out passes $out"
}

# Sets $arp, $wire, $in and $out to yes or no, within a second.
ask_both_ways() {
  # shellcheck disable=SC2046 # four words
  set -- $(as_root perl -e "$both_ways" "$dev" "$own" "$peer")
  [ $# -eq 4 ] || cannot "the probe of both ways does not work on this node"
  arp=$1 wire=$2 in=$3 out=$4
}

# shellcheck disable=SC2016 # perl's
both_ways='
use strict;
use Socket;
use Time::HiRes qw(time);
my ($dev, $own, $peer) = @ARGV;
my ($ETH_ALL, $ETH_IP, $ETH_ARP, $AF_PACKET, $BINDTODEVICE) = (3, 0x800, 0x806, 17, 25);
my ($own_ip, $peer_ip) = (inet_aton($own), inet_aton($peer));
sub sys_of { open my $f, "<", "/sys/class/net/$dev/$_[0]" or die "$dev: $!"; my $l = <$f>; chomp $l; $l }
my $index = sys_of("ifindex");
my $own_mac = pack "H12", sys_of("address") =~ tr/://dr;

socket my $tap, $AF_PACKET, SOCK_RAW, unpack("S", pack "n", $ETH_ALL) or die "packet socket: $!";
bind $tap, pack "S n i S C C x8", $AF_PACKET, $ETH_ALL, $index, 0, 0, 0 or die "packet socket: $!";
socket my $raw, AF_INET, SOCK_RAW, 1 or die "raw socket: $!";
setsockopt $raw, SOL_SOCKET, $BINDTODEVICE, "$dev\0" or die "raw socket: $!";

# The next that arrives at either: (socket, bytes), or nothing when the time is over.
sub hear {
  my ($until) = @_;
  while ((my $left = $until - time) > 0) {
    my $ready = "";
    vec($ready, fileno $_, 1) = 1 for $tap, $raw;
    last if select($ready, undef, undef, $left) < 1;
    for my $socket ($tap, $raw) {
      next unless vec $ready, fileno $socket, 1;
      recv $socket, my $bytes, 2048, 0;
      return ($socket == $tap, $bytes);
    }
  }
  return;
}

sub checksum {
  my $sum = 0;
  $sum += $_ for unpack "n*", $_[0];
  $sum = ($sum & 0xffff) + ($sum >> 16) while $sum >> 16;
  return pack "n", ~$sum & 0xffff;
}
sub echo { # id: an ICMP echo request
  my $text = pack "C C n n n a16", 8, 0, 0, $_[0], 1, "unplug";
  substr $text, 2, 2, checksum($text);
  return $text;
}
# The id of an echo reply from the peer, else -1.
sub reply_id {
  my ($ip) = @_;
  return -1 if length $ip < 28 or substr($ip, 12, 4) ne $peer_ip or ord substr($ip, 9, 1) != 1;
  my ($type, $id) = unpack "C x3 n", substr $ip, 4 * (ord($ip) & 15);
  return defined $id && $type == 0 ? $id : -1;
}

my $peer_mac;
for (1 .. 3) {
  my $ask = "\xff" x 6 . $own_mac . pack("n n n C C n", $ETH_ARP, 1, $ETH_IP, 6, 4, 1) . $own_mac . $own_ip . "\0" x 6 . $peer_ip;
  send $tap, $ask, 0;
  my $until = time + 0.2;
  while (my ($on_wire, $bytes) = hear($until)) {
    next unless $on_wire and length $bytes >= 42 and unpack("x12 n x6 n", $bytes) == $ETH_ARP;
    next unless unpack("x20 n", $bytes) == 2 and substr($bytes, 28, 4) eq $peer_ip;
    $peer_mac = substr $bytes, 22, 6;
    last;
  }
  last if defined $peer_mac;
}
my %passes = (wire => "no", in => "no", out => "no");
if (defined $peer_mac) {
  my $by_ip = $$ & 0x7fff;
  my $by_wire = $by_ip | 0x8000;
  my $head = pack "C C n n n C C n a4 a4", 0x45, 0, 44, 0, 0, 64, 1, 0, $own_ip, $peer_ip;
  substr $head, 10, 2, checksum($head);
  my $end = time + 0.6;
  for my $try (1 .. 3) {
    send $raw, echo($by_ip), 0, pack_sockaddr_in(0, $peer_ip); # a block may refuse it
    send $tap, $peer_mac . $own_mac . pack("n", $ETH_IP) . $head . echo($by_wire), 0;
    my $until = $try < 3 ? time + 0.1 : $end;
    while (my ($on_wire, $bytes) = hear($until)) {
      next if $on_wire and substr($bytes, 6, 6) ne $peer_mac;
      my $id = reply_id($on_wire ? substr $bytes, 14 : $bytes);
      $passes{wire} = "yes" if $on_wire and $id == $by_wire;
      $passes{out} = "yes" if $on_wire and $id == $by_ip;
      $passes{in} = "yes" if !$on_wire and $id == $by_wire;
      last if "@passes{qw(wire in out)}" eq "yes yes yes";
    }
    last if "@passes{qw(wire in out)}" eq "yes yes yes";
  }
}
print join(" ", defined $peer_mac ? "yes" : "no", @passes{qw(wire in out)}), "\n";
'
