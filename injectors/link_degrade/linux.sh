#!/bin/sh
# link_degrade: loss by an nft table of our own, rate and delay by a queue at the near end.
#
#   out:  IP layer ──> nft loses ──> root qdisc: tbf or netem ──> wire
#   in:   IP layer <── nft loses <── ifb: tbf or netem <── clsact redirects <── wire
#
# Taking our root qdisc away gives the interface the kernel's own again. Any other that was there could not be
# put back to the last parameter, as `tc` rounds what it shows: so arm refuses it.
#
# The proof goes past all of it, by packet sockets (see link_block), and counts and times answers to
# echo requests.
# shellcheck disable=SC2154 # the prelude and interface.sh set what they answer

slow_handle=7570:

probe() {
  link_ends
  need_root
  need_tools ip tc nft ping perl awk sed grep unshare
  good_parameters
  need_whole_link "$dev" "$peer"
  if [ "$UNPLUG_ROLE" = near ]; then kernel_can; fi
  need_good_link
  facts interface "$dev" peer "$peer" direction "$UNPLUG_DIRECTION" round_trip_us "$trip_us"
}

# Sets $delay_us, $jitter_us, $burst, and $slow_queue, the words of the queueing discipline, if one is needed.
good_parameters() {
  case $UNPLUG_DIRECTION in
  in | out | both) ;;
  *) cannot "direction is in, out or both, not '$UNPLUG_DIRECTION'" ;;
  esac
  case $own/$peer in
  *:*) cannot "$own, $peer: the proof speaks IPv4" ;;
  esac
  within "$UNPLUG_LOSS" 5 90 || cannot "loss is 5 to 90 percent, or none, not '$UNPLUG_LOSS'"
  within "$UNPLUG_RATE" 65536 4194304 || cannot "rate is 64KiB to 4MiB a second, or none, not $UNPLUG_RATE bytes"
  delay_us=$(microseconds "$UNPLUG_DELAY") jitter_us=$(microseconds "$UNPLUG_JITTER")
  within "$delay_us" 2000 250000 || cannot "delay is 2ms to 250ms, or none, not $UNPLUG_DELAY s"
  [ $((3 * jitter_us)) -le "$delay_us" ] || cannot "jitter is a third of the delay at most"
  [ "$UNPLUG_LOSS$UNPLUG_RATE$delay_us" != 000 ] || cannot "neither loss nor delay nor rate is asked for"
  read -r mtu <"/sys/class/net/$dev/mtu" || cannot "there is no interface $dev on this node"
  # As long as the kernel's clock may be late, and never less than two packets.
  burst=$((UNPLUG_RATE / 50 > 2 * mtu + 28 ? UNPLUG_RATE / 50 : 2 * mtu + 28))
  slow_queue=
  if [ "$delay_us" != 0 ]; then
    slow_queue="netem limit 10000 delay ${delay_us}us ${jitter_us}us"
    [ "$UNPLUG_RATE" = 0 ] || slow_queue="$slow_queue rate ${UNPLUG_RATE}bps"
  elif [ "$UNPLUG_RATE" != 0 ]; then
    slow_queue="tbf rate ${UNPLUG_RATE}bps burst $burst latency 400ms"
  fi
}
within() { # NUMBER FROM TO: or 0
  case $1 in '' | *[!0-9]* | ??????????*) return 1 ;; esac
  [ "$1" -eq 0 ] || { [ "$1" -ge "$2" ] && [ "$1" -le "$3" ]; }
}
microseconds() { awk -v s="$1" 'BEGIN { printf "%d\n", s * 1000000 + 0.5 }'; }

# The kernel is asked by doing it, in a network namespace that goes with the question.
kernel_can() {
  if [ "$UNPLUG_LOSS" != 0 ]; then
    loss_rules unplug_probe | as_root nft -c -f - || cannot "nft cannot lose packets here: this kernel takes no such rule"
  fi
  [ -n "$slow_queue" ] || return 0
  if [ "$delay_us" != 0 ]; then
    as_root unshare --net tc qdisc add dev lo root netem delay 1ms 2>/dev/null ||
      cannot "this kernel has no netem: nothing can be delayed"
  fi
  # shellcheck disable=SC2086 # words
  as_root unshare --net sh -ec "$slow_down" sh lo unplug_probe "$UNPLUG_DIRECTION" "$slow_handle" $slow_queue ||
    cannot "this kernel does not take the queue: $slow_queue"
  only_own_queues
}

only_own_queues() {
  foreign=$(interface_qdisc "$dev" | grep -v '^qdisc [a-z_]* 0: ' | head -n 1) || :
  [ -z "$foreign" ] || cannot "$dev has a queueing discipline that could not be put back exactly: $foreign"
}

arm() {
  link_ends
  good_parameters
  need_whole_link "$dev" "$peer"
  keep table "unplug_$(printf '%s_%s' "${run_folder##*/}" "$UNPLUG_FAULT" | tr -c 'a-zA-Z0-9' _)"
  table_is_there || case $? in 1) ;; *) cannot "nft does not list its tables" ;; esac
  [ "$there" = no ] || cannot "there is a table $kept_table already, and it is not ours"
  # Names of interfaces have 15 letters at most.
  keep ifb "unp$(printf '%s' "$kept_table" | cksum | cut -d ' ' -f 1)"
  [ ! -e "/sys/class/net/$kept_ifb" ] || cannot "there is an interface $kept_ifb already, and it is not ours"
  [ -z "$slow_queue" ] || only_own_queues
  keep queue "$slow_queue"
  keep qdisc "$(interface_qdisc "$dev")"
  read -r qlen <"/sys/class/net/$dev/tx_queue_len"
  keep qlen "$qlen"
}

fire() {
  link_ends
  if [ "$UNPLUG_LOSS" != 0 ]; then loss_rules "$kept_table" | nft -f - || return 1; fi
  [ -n "$kept_queue" ] || return 0
  remember queue || return 1
  # shellcheck disable=SC2086 # words
  sh -ec "$slow_down" sh "$dev" "$kept_ifb" "$UNPLUG_DIRECTION" "$slow_handle" $kept_queue
}

loss_rules() { # TABLE
  printf 'table inet %s {\n' "$1"
  case $UNPLUG_DIRECTION in in | both)
    printf 'chain in { type filter hook prerouting priority -300; iifname "%s" numgen random mod 100 < %s drop; }\n' "$dev" "$UNPLUG_LOSS"
    ;;
  esac
  case $UNPLUG_DIRECTION in out | both)
    printf 'chain out { type filter hook postrouting priority 300; oifname "%s" numgen random mod 100 < %s drop; }\n' "$dev" "$UNPLUG_LOSS"
    ;;
  esac
  printf '}\n'
}

# DEV IFB DIRECTION HANDLE QUEUE...: text, so that a namespace of its own can try it.
# shellcheck disable=SC2016
slow_down='
dev=$1 ifb=$2 direction=$3 handle=$4
shift 4
[ "$direction" = in ] || tc qdisc add dev "$dev" root handle "$handle" "$@"
[ "$direction" = out ] || {
  ip link add name "$ifb" type ifb
  ip link set dev "$ifb" addrgenmode none up
  tc qdisc add dev "$ifb" root "$@"
  tc qdisc add dev "$dev" clsact
  tc filter add dev "$dev" ingress pref 1 protocol all u32 match u32 0 0 action mirred egress redirect dev "$ifb"
}'

# Sets $there; 2 where nft itself cannot tell.
table_is_there() {
  there=unknown
  tables=$(as_root nft list tables) || return 2
  case "$newline$tables$newline" in
  *"${newline}table inet $kept_table$newline"*) there=yes ;;
  *) there=no && return 1 ;;
  esac
}

revert() {
  link_ends
  same_boot || return 0
  table_is_there
  case $there in
  yes) nft delete table inet "$kept_table" || return 1 ;;
  unknown) not_so "nft does not list its tables" || return 1 ;;
  esac
  each_remembered take_queue_away
}

# Each piece that is there and ours; a clsact only when nobody else has put a filter there.
take_queue_away() {
  if interface_qdisc "$dev" | grep -q "^qdisc [a-z]* $slow_handle root"; then tc qdisc del dev "$dev" root || return 1; fi
  if tc filter show dev "$dev" ingress | grep -Fq "device $kept_ifb)"; then tc filter del dev "$dev" ingress pref 1 || return 1; fi
  if interface_qdisc "$dev" | grep -q '^qdisc clsact ' && [ -z "$(tc filter show dev "$dev" ingress && tc filter show dev "$dev" egress)" ]; then
    tc qdisc del dev "$dev" clsact || return 1
  fi
  if [ -e "/sys/class/net/$kept_ifb" ]; then ip link del dev "$kept_ifb" || return 1; fi
  # A queue of no length gets one when it gets a queueing discipline.
  read -r qlen <"/sys/class/net/$dev/tx_queue_len"
  [ "$qlen" = "$kept_qlen" ] || ip link set dev "$dev" txqueuelen "$kept_qlen"
}

# ---- proofs

# measure: sets, for each of the ways out, in, wire and trip, $OUT_lost of $count and the middle one of its times,
# $out_us; with a rate also what of a burst came through, $out_bytes, and in what time, $out_took.
measure() {
  out_lost=0 out_us=0 in_lost=0 in_us=0 wire_lost=0 wire_us=0 trip_lost=0 trip_us=0
  answers_arp "$dev" "$peer" || not_so "$peer answers no ARP over $dev: that is a link loss" || return 1
  # As many as chance needs: of 300 none is lost by 5 percent in one of five million tries.
  count=20 gap=0.005 blast=0 tail=$((100000 + 2 * (delay_us + jitter_us)))
  [ "$UNPLUG_LOSS" = 0 ] || count=300 gap=0.001
  [ "$UNPLUG_RATE" = 0 ] || tail=$((tail + 400000)) blast=$((burst + UNPLUG_RATE * 3 / 10))
  # shellcheck disable=SC2046 # words
  set -- $(as_root perl -e "$measuring" "$dev" "$own" "$peer" "$arp_mac" "$count" "$gap" "$tail" "$blast" "$mtu")
  [ $# -eq 14 ] || cannot "echo requests cannot be measured on this node"
  out_lost=$1 out_us=$2 in_lost=$3 in_us=$4 wire_lost=$5 wire_us=$6 trip_lost=$7 trip_us=$8
  shift 8
  out_bytes=$1 out_took=$2 in_bytes=$3 in_took=$4 trip_bytes=$5 trip_took=$6
}
measured() { # NAME VALUE...: what was seen, for a report
  facts role "$UNPLUG_ROLE" interface "$dev" sent "$count" out_lost "$out_lost" in_lost "$in_lost" trip_lost "$trip_lost" wire_lost "$wire_lost" \
    out_us "$out_us" in_us "$in_us" trip_us "$trip_us" wire_us "$wire_us" \
    out_bytes "$out_bytes" out_took_us "$out_took" in_bytes "$in_bytes" in_took_us "$in_took" trip_bytes "$trip_bytes" trip_took_us "$trip_took" "$@"
}

# loses LOST PERCENT: within five standard deviations; somewhat more may be the link's own.
loses() {
  loses_e=$((count * $2 / 100))
  loses_d=$(($1 > loses_e + 6 ? $1 - loses_e - 6 : ($1 < loses_e ? loses_e - $1 : 0)))
  [ "$1" -gt 0 ] && [ "$1" -lt "$count" ] && [ $((400 * loses_d * loses_d)) -le $((count * $2 * (100 - $2))) ]
}
# Nothing, but for what a busy node does not answer in time.
loses_nothing() { [ "$1" -le $((count / 50)) ]; }

# later US THAN TIMES: by the delay, so many times.
later() { [ $(($1 - $2)) -ge $((7 * $3 * delay_us / 10)) ]; }

# slow BYTES US: no more than five fourths of the rate, beside what the burst may.
slow() { [ "$1" -gt 0 ] && [ "$1" -le $((burst + 2 * mtu + UNPLUG_RATE * $2 / 800000)) ]; }

verify() {
  link_ends
  good_parameters
  measure || return 1
  measured
  if [ "$UNPLUG_ROLE" = far ]; then
    verify_trip
    return
  fi
  [ "$wire_lost" -lt "$count" ] || not_so "$peer answers nothing on the wire of $dev: that is a link loss" || return 1
  verify_way out "$out_lost" "$out_us" "$out_bytes" "$out_took" && verify_way in "$in_lost" "$in_us" "$in_bytes" "$in_took"
}

verify_way() { # WAY LOST US BYTES TOOK
  case $UNPLUG_DIRECTION in
  both | "$1") ;;
  *)
    [ "$UNPLUG_LOSS" = 0 ] || loses_nothing "$2" || not_so "$1 loses $2 of $count, and should lose nothing" || return 1
    [ "$delay_us" = 0 ] || ! later "$3" "$wire_us" 1 || not_so "$1 takes $3 us, and should not" || return 1
    return 0
    ;;
  esac
  [ "$2" -lt "$count" ] || not_so "nothing passes $1" || return 1
  [ "$UNPLUG_LOSS" = 0 ] || loses "$2" "$UNPLUG_LOSS" || not_so "$1 loses $2 of $count, which is not $UNPLUG_LOSS percent" || return 1
  [ "$delay_us" = 0 ] || later "$3" "$wire_us" 1 || not_so "$1 takes $3 us, on the wire $wire_us: no delay of $delay_us" || return 1
  [ "$UNPLUG_RATE" = 0 ] || slow "$4" "$5" || not_so "$1 passes $4 bytes in $5 us: that is no rate of $UNPLUG_RATE a second"
}

# At the far end there and back is all that can be told.
verify_trip() {
  ways=1 percent=$UNPLUG_LOSS
  [ "$UNPLUG_DIRECTION" != both ] || ways=2 percent=$((UNPLUG_LOSS * (200 - UNPLUG_LOSS) / 100))
  [ "$trip_lost" -lt "$count" ] || not_so "nothing comes back" || return 1
  [ "$UNPLUG_LOSS" = 0 ] || loses "$trip_lost" "$percent" || not_so "$trip_lost of $count are lost, which is not $percent percent" || return 1
  [ "$delay_us" = 0 ] || later "$trip_us" 0 "$ways" || not_so "a round trip takes $trip_us us: no delay of $ways x $delay_us" || return 1
  [ "$UNPLUG_RATE" = 0 ] || slow "$trip_bytes" "$trip_took" || not_so "$trip_bytes bytes pass in $trip_took us: that is no rate of $UNPLUG_RATE a second"
}

# Before and after: it loses nothing, is not late, and passes more than is asked.
good_link() {
  measure || return 1
  loses_nothing "$trip_lost" || not_so "the link loses $trip_lost of $count" || return 1
  [ "$delay_us" = 0 ] || ! later "$trip_us" 0 1 || not_so "a round trip takes $trip_us us" || return 1
  [ "$UNPLUG_RATE" = 0 ] || ! slow "$trip_bytes" "$trip_took" || not_so "the link passes $trip_bytes bytes in $trip_took us"
}
need_good_link() { good_link || cannot "what is asked could not be told from what the link is already"; }

verify_reverted() {
  link_ends
  good_parameters
  there=no difference=
  if [ "$UNPLUG_ROLE" = near ]; then
    table_is_there || :
    same_boot && [ "$(interface_qdisc "$dev")" != "$kept_qdisc" ] && difference=$(interface_qdisc "$dev" | head -n 1)
    [ ! -e "/sys/class/net/$kept_ifb" ] || difference="the interface $kept_ifb"
  fi
  good=yes
  good_link || good=no
  [ "$arp" = no ] || measured table "$there" difference "$difference"
  [ "$there" = no ] || not_so "the table $kept_table is there; by hand: nft delete table inet $kept_table" || return 1
  [ -z "$difference" ] || not_so "$dev has not the queues that it had: $difference" || return 1
  [ "$good" = yes ] || not_so "$peer: lost $trip_lost of $count, a round trip takes $trip_us us"
}

# shellcheck disable=SC2016 # perl's
measuring='
use strict;
use Errno;
use Socket;
use Time::HiRes qw(time);
my ($dev, $own, $peer, $mac, $count, $gap, $tail, $blast, $mtu) = @ARGV;
my ($AF_PACKET, $ETH_IP, $BINDTODEVICE, $SOL_PACKET, $QDISC_BYPASS) = (17, 0x800, 25, 263, 20);
my ($own_ip, $peer_ip) = (inet_aton($own), inet_aton($peer));
sub sys_of { open my $f, "<", "/sys/class/net/$dev/$_[0]" or die "$dev: $!"; my $l = <$f>; chomp $l; $l }
my $own_mac = pack "H12", sys_of("address") =~ tr/://dr;

socket my $wire, $AF_PACKET, SOCK_RAW, unpack("S", pack "n", $ETH_IP) or die "packet socket: $!";
bind $wire, pack "S n i S C C x8", $AF_PACKET, $ETH_IP, sys_of("ifindex"), 0, 0, 0 or die "packet socket: $!";
setsockopt $wire, $SOL_PACKET, $QDISC_BYPASS, pack("i", 1) or die "packet socket: $!";
socket my $ip, AF_INET, SOCK_RAW, 1 or die "raw socket: $!";
setsockopt $ip, SOL_SOCKET, $BINDTODEVICE, "$dev\0" or die "raw socket: $!";
setsockopt $_, SOL_SOCKET, 33, pack("i", 4 << 20) for $wire, $ip; # SO_RCVBUFFORCE, where we may

sub checksum {
  my $sum = 0;
  $sum += $_ for unpack "n*", $_[0] . (length($_[0]) % 2 ? "\0" : "");
  $sum = ($sum & 0xffff) + ($sum >> 16) while $sum >> 16;
  return pack "n", ~$sum & 0xffff;
}
# Prepared beforehand: a sum over a large packet takes longer than to send it. The number stands in
# two fields that even out, so that the sum stays.
my %text;
sub echo { # id, number, size of the text
  my ($id, $number, $size) = @_;
  $text{"$id $size"} //= do {
    my $text = pack "C C n n n n", 8, 0, 0, $id, 0, 0xffff;
    $text .= "u" x ($size - length $text);
    substr $text, 2, 2, checksum($text);
    $text;
  };
  my $text = $text{"$id $size"};
  substr $text, 6, 4, pack("n n", $number, 0xffff - $number);
  return $text;
}
sub by_ip { return send $ip, $_[0], MSG_DONTWAIT, pack_sockaddr_in(0, $peer_ip) }
sub by_wire {
  my $head = pack "C C n n n C C n a4 a4", 0x45, 0, 20 + length $_[0], 0, 0, 64, 1, 0, $own_ip, $peer_ip;
  substr $head, 10, 2, checksum($head);
  return send $wire, pack("H12", $mac) . $own_mac . pack("n", $ETH_IP) . $head . $_[0], MSG_DONTWAIT;
}

# %heard: way -> number -> [when, bytes]; all that arrives within the next seconds.
my ($by_ip, $by_wire) = (($$ & 0x3fff) << 1, ($$ & 0x3fff) << 1 | 1);
my %heard;
sub hear {
  my ($until) = @_;
  while (1) {
    my $left = $until - time;
    my $ready = "";
    vec($ready, fileno $_, 1) = 1 for $wire, $ip;
    return if select($ready, undef, undef, $left > 0 ? $left : 0) < 1;
    for my $socket ($wire, $ip) {
      next unless vec $ready, fileno $socket, 1;
      recv $socket, my $bytes, 65536, MSG_DONTWAIT;
      my $packet = $socket == $wire ? substr $bytes, 14 : $bytes;
      next if length $packet < 28 or substr($packet, 12, 4) ne $peer_ip or ord substr($packet, 9, 1) != 1;
      my ($type, $id, $number) = unpack "C x3 n n", substr $packet, 4 * (ord($packet) & 15);
      next unless defined $number and $type == 0 and ($id == $by_ip or $id == $by_wire);
      my $way = $id == $by_ip ? ($socket == $wire ? "out" : "trip") : ($socket == $wire ? "wire" : "in");
      $heard{$way}{$number} //= [time, 14 + length $packet];
    }
    return if $left <= 0;
  }
}
sub middle { my @all = sort { $a <=> $b } @_; return @all ? int 1e6 * $all[@all / 2] : 0 }

# A few or many, slowly, by both.
my (@ip_sent, @wire_sent);
my $begin = time;
for my $number (0 .. $count - 1) {
  hear($begin + $number * $gap);
  $ip_sent[$number] = time;
  by_ip(echo($by_ip, $number, 24));
  $wire_sent[$number] = time;
  by_wire(echo($by_wire, $number, 24));
}
my $end = time + $tail / 1e6;
while (time < $end) {
  last if keys %{$heard{trip}} == $count and keys %{$heard{in}} == $count;
  hear(time + 0.02);
}
for my $way (qw(out in wire trip)) {
  my $sent = $way =~ /out|trip/ ? \@ip_sent : \@wire_sent;
  my $heard = $heard{$way} // {};
  print $count - keys %$heard, " ", middle(map { $heard->{$_}[0] - $sent->[$_] } keys %$heard), " ";
}

# As many as fit, at once: by one, and then by the other.
my %burst = (out => "0 0", in => "0 0", trip => "0 0");
for my $how (\&by_ip, \&by_wire) {
  last unless $blast;
  my $ways = $how == \&by_ip ? ["out", "trip"] : ["in"];
  my $id = $how == \&by_ip ? $by_ip : $by_wire;
  my $number = 1000;
  %heard = ();
  my $first = time;
  for (my $left = $blast; $left > 0 && time < $first + 0.6; ) {
    # What a rule drops is told as an error; a socket that is full is asked again.
    if ($how->(echo($id, $number, $mtu - 20)) or not $!{EAGAIN}) { $left -= $mtu + 14; $number++; hear(0) }
    else { hear(time + 0.002) }
  }
  my $until = time + 0.5;
  while (time < $until) {
    last unless grep { keys %{$heard{$_}} < $number - 1000 } @$ways;
    hear(time + 0.02);
  }
  for my $way (@$ways) {
    my ($bytes, $last) = (0, $first);
    for (values %{$heard{$way}}) { $bytes += $_->[1]; $last = $_->[0] if $_->[0] > $last }
    $burst{$way} = $bytes . " " . int(1e6 * ($last - $first));
  }
}
print "$burst{out} $burst{in} $burst{trip}\n";
'
