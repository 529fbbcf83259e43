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
# how: drop takes everything; big takes only packets of more bytes than `over`, and tells nobody (an MTU
# black hole); reset answers TCP with a RST and lets all else pass. RSTs pass on the way out, or there would be none.
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
  block_asked
  for one in $peers; do can_be_proved "$one"; done
  facts interface "$dev" peer "$peers" direction "$UNPLUG_DIRECTION" how "$how"
}

# Sets $how and $over, and $peers: who is cut off, as seen from this end.
block_asked() {
  how=${UNPLUG_HOW:-drop} over=${UNPLUG_OVER:-1000} peers=${UNPLUG_PEER:-link}
  [ "$peers" != link ] || peers=$peer
  [ "$UNPLUG_ROLE" = near ] || peers=$peer
}

# The far end may be one of those that are not cut off.
is_spared() {
  case " ${UNPLUG_PEER:-link} " in
  ' link ') return 1 ;;
  *" $own "*) return 1 ;;
  esac
  [ "$UNPLUG_ROLE" = far ]
}

good_parameters() {
  block_asked
  case $UNPLUG_DIRECTION in
  in | out | both) ;;
  *) cannot "direction is in, out or both, not '$UNPLUG_DIRECTION'" ;;
  esac
  case $how in
  drop | reset) ;;
  big)
    read -r mtu <"/sys/class/net/$dev/mtu" || cannot "there is no interface $dev on this node"
    case $over in '' | 0* | *[!0-9]* | ??????*) cannot "over is a number of bytes, not '$over'" ;; esac
    [ "$over" -ge 68 ] || cannot "over is 68 bytes or more: every link carries that"
    [ "$over" -lt "$mtu" ] || cannot "no packet on $dev has more than $mtu bytes: none would be over $over"
    ;;
  *) cannot "how is drop, reset or big, not '$how'" ;;
  esac
  case $own/$peers in
  *:*) cannot "$own, $peers: the proof speaks IPv4" ;;
  */*[!0-9.\ ]* | */) cannot "peer is link, or IPv4 addresses with blanks between, not '$peers'" ;;
  esac
  # shellcheck disable=SC2086 # split on purpose
  set -- $peers
  [ $# -le 4 ] || cannot "peer names $# addresses: a proof has time for four"
}

can_be_proved() { # ADDRESS
  ask_ways "$1"
  [ "$arp" = yes ] || cannot "$1 answers no ARP over $dev: nothing could be proved"
  if [ "$how" = drop ]; then return; fi
  [ "$wire $in $out" = 'yes yes yes' ] || cannot "$1 does not answer both ways over $dev ($wire $in $out): nothing could be proved"
  [ "$how$UNPLUG_ROLE" = resetfar ] || return 0
  try_to_connect "$1" "${UNPLUG_NEAR_PORT:-22}"
  [ "$connected" = yes ] || cannot "port ${UNPLUG_NEAR_PORT:-22} of $1 does not answer over $dev: a reset would be no news"
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

# Before connection tracking and address translation, after them on the way out: as the wire has it. A RST can be
# made where packets end and begin only.
rules() { # TABLE
  block_asked
  printf 'table inet %s {\n' "$1"
  rules_in='hook prerouting priority -300' rules_out='hook postrouting priority 300' rules_do=drop rules_out_do=drop
  case $how in
  big) rules_do="meta length > $over drop" rules_out_do=$rules_do ;;
  reset)
    rules_in='hook input priority -300' rules_out='hook output priority -300'
    rules_do='meta l4proto tcp reject with tcp reset' rules_out_do='tcp flags & rst != rst reject with tcp reset'
    ;;
  esac
  case $UNPLUG_DIRECTION in in | both)
    printf 'chain in { type filter %s;\n' "$rules_in"
    for one in $peers; do printf 'iifname "%s" ip saddr %s %s\n' "$dev" "$one" "$rules_do"; done
    printf '}\n'
    ;;
  esac
  case $UNPLUG_DIRECTION in out | both)
    printf 'chain out { type filter %s;\n' "$rules_out"
    for one in $peers; do printf 'oifname "%s" ip daddr %s %s\n' "$dev" "$one" "$rules_out_do"; done
    printf '}\n'
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
  block_asked
  if is_spared; then
    answers "$dev" "$peer" || not_so "$peer does not answer over $dev, and should" || return 1
    facts role far interface "$dev" spared "$own" answered "$answered"
    return 0
  fi
  case $UNPLUG_DIRECTION in
  in) want='no yes' ;;
  out) want='yes no' ;;
  both) want='no no' ;;
  esac
  for one in $peers; do "verify_$how" "$one" || return 1; done
}

verify_drop() { # PEER
  ask_ways "$1"
  answers "$dev" "$1" || :
  facts role "$UNPLUG_ROLE" interface "$dev" peer "$1" arp "$arp" answered "$answered" wire "$wire" in "$in" out "$out"
  [ "$arp" = yes ] || not_so "$1 does not even answer ARP over $dev: that is no block" || return 1
  [ "$answered" = no ] || not_so "$1 answers over $dev" || return 1
  [ "$UNPLUG_ROLE" = near ] || return 0
  # Sent on the wire and heard on the wire: the far end answers, whatever the rules do.
  [ "$wire" = yes ] || not_so "$1 answers nothing on the wire of $dev: that is no block" || return 1
  right_ways
}
right_ways() {
  [ "$in $out" = "$want" ] || not_so "in passes: $in, out passes: $out; with direction $UNPLUG_DIRECTION it should be: $want"
}

verify_big() { # PEER
  read -r mtu <"/sys/class/net/$dev/mtu"
  ask_both_ways "$1" icmp "$over"
  small="$wire $in $out"
  ask_both_ways "$1" icmp "$mtu"
  facts role "$UNPLUG_ROLE" interface "$dev" peer "$1" arp "$arp" small "$small" wire "$wire" in "$in" out "$out"
  [ "$small" = 'yes yes yes' ] || not_so "$1: $over bytes do not pass both ways over $dev ($small): that is no black hole" || return 1
  if [ "$UNPLUG_ROLE" = far ]; then
    [ "$wire" = no ] || not_so "$1 answers $mtu bytes over $dev"
    return
  fi
  [ "$wire" = yes ] || not_so "$1 answers nothing on the wire of $dev: that is no block" || return 1
  right_ways
}

# A connection that is refused may just have found no listener. At the near end it is refused without a word
# on the wire; at the far end it goes to a port that is known to listen.
verify_reset() { # PEER
  answers "$dev" "$1" || :
  if [ "$UNPLUG_ROLE" = near ]; then
    ask_ways "$1"
    try_to_connect "$1" 9
  else
    try_to_connect "$1" "${UNPLUG_NEAR_PORT:-22}"
    wire='' in='' out=''
  fi
  facts role "$UNPLUG_ROLE" interface "$dev" peer "$1" answered "$answered" connected "$connected" wire "$wire" in "$in" out "$out"
  [ "$answered" = yes ] || not_so "$1 answers no ping over $dev: that is more than a reset" || return 1
  case $UNPLUG_ROLE$UNPLUG_DIRECTION in
  nearin) ;; # what comes is answered to the other end
  farout) [ "$connected" = silent ] || not_so "a connection to $1 is $connected, not silent" || return 1 ;;
  *) [ "$connected" = refused ] || not_so "a connection to $1 is $connected, not refused at once" || return 1 ;;
  esac
  [ "$UNPLUG_ROLE" = near ] || return 0
  [ "$wire" = yes ] || not_so "$1 answers nothing on the wire of $dev: that is no reset" || return 1
  right_ways
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
  block_asked
  there=
  if [ "$UNPLUG_ROLE" = near ]; then table_is_there || :; fi
  for one in $peers; do
    ask_ways "$one"
    answers "$dev" "$one" || :
    facts role "$UNPLUG_ROLE" interface "$dev" peer "$one" table "$there" answered "$answered" in "$in" out "$out"
    case $there in
    yes | unknown) not_so "the table $kept_table is there; by hand: nft delete table inet $kept_table" || return 1 ;;
    esac
    [ "$answered $in $out" = "yes yes yes" ] || not_so "$one: answers $answered, in passes $in, out passes $out" || return 1
    [ "$how$UNPLUG_ROLE" = resetfar ] || continue
    try_to_connect "$one" "${UNPLUG_NEAR_PORT:-22}"
    [ "$connected" = yes ] || not_so "a connection to $one is $connected" || return 1
  done
}

# Sets $connected: yes, refused at once, or silent.
try_to_connect() { # PEER PORT
  connected=$(perl -MSocket -MErrno -e '
    my ($own, $peer, $port) = @ARGV;
    socket my $s, AF_INET, SOCK_STREAM | 2048, 0 or die; # SOCK_NONBLOCK
    bind $s, pack_sockaddr_in(0, inet_aton($own)) or die;
    connect $s, pack_sockaddr_in($port, inet_aton($peer)) and print("yes\n"), exit;
    if ($!{EINPROGRESS}) {
      vec(my $ready = "", fileno $s, 1) = 1;
      select(undef, $ready, undef, 0.5) < 1 and print("silent\n"), exit;
      $! = unpack "i", getsockopt $s, SOL_SOCKET, SO_ERROR;
    }
    print $! == 0 ? "yes\n" : $!{ECONNREFUSED} ? "refused\n" : "silent\n"' "$own" "$1" "$2") ||
    cannot "a connection cannot be tried on this node"
}

# As what is blocked would take it.
ask_ways() { # PEER
  case $how in
  big)
    read -r mtu <"/sys/class/net/$dev/mtu"
    ask_both_ways "$1" icmp "$mtu"
    ;;
  reset) ask_both_ways "$1" tcp 40 ;;
  *) ask_both_ways "$1" icmp 44 ;;
  esac
}

# Sets $arp, $wire, $in and $out to yes or no, within a second.
ask_both_ways() { # PEER icmp|tcp BYTES
  # shellcheck disable=SC2046 # four words
  set -- $(as_root perl -e "$both_ways" "$dev" "$own" "$@")
  [ $# -eq 4 ] || cannot "the probe of both ways does not work on this node"
  arp=$1 wire=$2 in=$3 out=$4
}

# shellcheck disable=SC2016 # perl's
both_ways='
use strict;
use Socket;
use Time::HiRes qw(time);
my ($dev, $own, $peer, $kind, $size) = @ARGV;
my $protocol = $kind eq "tcp" ? 6 : 1;
my ($ETH_ALL, $ETH_IP, $ETH_ARP, $AF_PACKET, $BINDTODEVICE) = (3, 0x800, 0x806, 17, 25);
my ($own_ip, $peer_ip) = (inet_aton($own), inet_aton($peer));
sub sys_of { open my $f, "<", "/sys/class/net/$dev/$_[0]" or die "$dev: $!"; my $l = <$f>; chomp $l; $l }
my $index = sys_of("ifindex");
my $own_mac = pack "H12", sys_of("address") =~ tr/://dr;

socket my $tap, $AF_PACKET, SOCK_RAW, unpack("S", pack "n", $ETH_ALL) or die "packet socket: $!";
bind $tap, pack "S n i S C C x8", $AF_PACKET, $ETH_ALL, $index, 0, 0, 0 or die "packet socket: $!";
socket my $raw, AF_INET, SOCK_RAW, $protocol or die "raw socket: $!";
setsockopt $raw, SOL_SOCKET, $BINDTODEVICE, "$dev\0" or die "raw socket: $!";
# The sum of a segment holds the address that it comes from.
bind $raw, pack_sockaddr_in(0, $own_ip) or die "raw socket: $!" if $kind eq "tcp";

# The next that arrives at either: (socket, bytes), or nothing when the time is over.
sub hear {
  my ($until) = @_;
  while ((my $left = $until - time) > 0) {
    my $ready = "";
    vec($ready, fileno $_, 1) = 1 for $tap, $raw;
    last if select($ready, undef, undef, $left) < 1;
    for my $socket ($tap, $raw) {
      next unless vec $ready, fileno $socket, 1;
      recv $socket, my $bytes, 65536, 0;
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
# An ICMP echo request with that id, or a SYN from that port to "discard".
sub request { # id
  my $text;
  if ($kind eq "tcp") {
    $text = pack "n n N N C C n n n", $_[0], 9, 1, 0, 0x50, 2, 1024, 0, 0;
    substr $text, 16, 2, checksum($own_ip . $peer_ip . pack("n n", 6, length $text) . $text);
  } else {
    $text = pack "C C n n n a6 x" . ($size - 34), 8, 0, 0, $_[0], 1, "unplug";
    substr $text, 2, 2, checksum(length($text) % 2 ? "$text\0" : $text);
  }
  return $text;
}
# The id that the peer answers, by an echo reply, a RST or a SYN with ACK; else -1.
sub reply_id {
  my ($ip) = @_;
  return -1 if length $ip < 28 or substr($ip, 12, 4) ne $peer_ip or ord substr($ip, 9, 1) != $protocol;
  if ($kind eq "tcp") {
    my ($from, $to) = unpack "n n", substr $ip, 4 * (ord($ip) & 15);
    return defined $to && $from == 9 ? $to : -1;
  }
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
  my $by_ip = 0x4000 | $$ & 0x1fff;
  my $by_wire = $by_ip | 0x2000;
  # DF: what is too large must not arrive in pieces.
  my $head = pack "C C n n n C C n a4 a4", 0x45, 0, $size, 0, 0x4000, 64, $protocol, 0, $own_ip, $peer_ip;
  substr $head, 10, 2, checksum($head);
  my $end = time + 0.6;
  for my $try (1 .. 3) {
    send $raw, request($by_ip), 0, pack_sockaddr_in(0, $peer_ip); # a block may refuse it
    send $tap, $peer_mac . $own_mac . pack("n", $ETH_IP) . $head . request($by_wire), 0;
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
