#!/bin/sh
# node_sleep: suspends the whole node by rtcwake, which has set the alarm before it sleeps.
#
#   fire ──> sleeper (child) ──> watcher: notes the longest hole in its own time
#                            └─> rtcwake -m mem -s HOLD
#
# On a real host that is util-linux's rtcwake and the machine's clock chip. An embedded node has a
# stand-in of that name, which asks the node's first process: `probe` says which of the two it is.
# Who is asleep can prove nothing: `witness` speaks during, `sleeper` afterwards.
# shellcheck disable=SC2154 # the prelude sets what it answers, arm what it kept

sleep_log=/run/unplug/sleep.log # of an embedded node's first process
sleep_stats=/sys/power/suspend_stats/success

# Time for `fired` to leave this node before its last frame does. It may be late and then is: what
# is lost is only how soon the controller knows.
sleep_grace=0.3

# ---- which kind of sleep

find_kind() {
  need_tools rtcwake perl
  case $(rtcwake -V 2>/dev/null) in
  *'embedded lab'*)
    sleep_kind='emulated sleep'
    [ -r "$sleep_log" ] || cannot "this embedded node keeps no record of its sleeps ($sleep_log)"
    ;;
  *)
    sleep_kind=rtcwake
    grep -qw mem /sys/power/state 2>/dev/null || cannot "this machine cannot suspend: /sys/power/state has no mem"
    [ -r "$sleep_stats" ] || cannot "the kernel keeps no record of its sleeps ($sleep_stats)"
    grep -qs enabled /sys/class/rtc/rtc0/device/power/wakeup || cannot "the clock chip (rtc0) may not wake this machine"
    case $UNPLUG_HOLD in *.*) cannot "rtcwake counts whole seconds, not $UNPLUG_HOLD" ;; esac
    ;;
  esac
}

# How often it has slept so far.
sleeps() {
  if [ "$sleep_kind" = rtcwake ]; then cat "$sleep_stats"; else grep -c '^sleep ' "$sleep_log" || :; fi
}

# How far the clock that counts in sleep is ahead of the one that does not, in ms.
clock_offset() {
  perl -MTime::HiRes=clock_gettime,CLOCK_MONOTONIC -e 'printf "%d", 1e3 * (clock_gettime(7) - clock_gettime(CLOCK_MONOTONIC))'
}

# ---- the verbs

probe() {
  if [ "$UNPLUG_ROLE" = witness ]; then
    need_tools perl
    ask_sleeper 3
    [ "$sleep_answer" = accepted ] ||
      cannot "$UNPLUG_NODE_ADDRESS port $UNPLUG_NODE_PORT gives no answer from here ($sleep_answer): its silence would prove nothing"
    facts answer "$sleep_answer"
    return
  fi
  need_root
  find_kind
  facts kind "$sleep_kind"
}

arm() {
  find_kind
  keep kind "$sleep_kind"
  keep slept_before "$(sleeps)"
  keep offset_before "$(clock_offset)"
}

fire() {
  rm -f "$fault_folder/hole"
  go_to_sleep &
}

# SAFETY: noted before it asks for anything, so that an undo that comes first can take the request
# back. Test: tests/e2e/node_sleep.test.
go_to_sleep() {
  read -r sleeper_pid _ </proc/self/stat
  stat_of "$sleeper_pid" || exit 1
  boot_of_node
  remember "$sleeper_pid" "$proc_start" "$boot_id" || exit 1
  exec 5>&- # the guard's: who holds it open keeps a dead guard's pipe
  watch_time &
  sleep "$sleep_grace"
  as_root rtcwake -m mem -s "$UNPLUG_HOLD" >/dev/null
  wait
}

# A process like any other of this node. It notes the longest time in which it could not run, on
# the clock that counts in sleep, and ends when that is as long as the sleep, or never came.
watch_time() {
  exec perl -MTime::HiRes=clock_gettime,sleep -e '
    my ($path, $hold) = @ARGV;
    my ($last, $most) = (clock_gettime(7), 0);
    my $end = $last + $hold + 10;
    while ($last < $end && $most < $hold - 0.5) {
      sleep 0.05;
      my $now = clock_gettime(7);
      if ($now - $last > $most && $now - $last > 0.5) {
        $most = $now - $last;
        open(my $file, ">", "$path.new") or die "$path.new: $!\n";
        printf {$file} "%.0f %.0f\n", $last * 1e9, $now * 1e9;
        close($file) && rename("$path.new", $path) or die "$path: $!\n";
      }
      $last = $now;
    }' "$fault_folder/hole" "$UNPLUG_HOLD"
}

verify() {
  if [ "$UNPLUG_ROLE" = witness ]; then
    ask_sleeper 0.4
    facts answer "$sleep_answer"
    [ "$sleep_answer" = none ] || not_so "the node answers: $sleep_answer"
    return
  fi
  seconds "$UNPLUG_HOLD" || cannot "UNPLUG_HOLD is no duration: $UNPLUG_HOLD"
  sleep_kind=$kept_kind
  slept_ms=0 slept_from=0 slept_to=0 slept_stopped=0 hole_ms=0 hole_from=0 hole_to=0
  if [ "$(sleeps)" -gt "$kept_slept_before" ]; then read_record; fi
  if [ -e "$fault_folder/hole" ]; then
    read -r hole_from hole_to <"$fault_folder/hole"
    hole_ms=$(((hole_to - hole_from) / 1000000))
  fi
  facts kind "$kept_kind" slept_ms "$slept_ms" from "$slept_from" to "$slept_to" stopped "$slept_stopped" \
    hole_ms "$hole_ms" hole_from "$hole_from" hole_to "$hole_to"
  # A clock chip counts in seconds, and falling asleep takes its time.
  sleep_wanted=$((centis * 10 - 500))
  [ "$kept_kind" != rtcwake ] || sleep_wanted=$((centis * 10 - 2000))
  [ "$slept_ms" -ge "$sleep_wanted" ] || not_so "its own record shows a sleep of $slept_ms ms, not of $UNPLUG_HOLD s" || return 1
  [ "$hole_ms" -ge "$sleep_wanted" ] || not_so "a process of ours was held up for $hole_ms ms only"
}

# Of the newest sleep since we looked.
read_record() {
  if [ "$sleep_kind" = rtcwake ]; then
    slept_ms=$(($(clock_offset) - kept_offset_before))
    return
  fi
  # shellcheck disable=SC2046 # split on purpose
  set -- $(tail -n 1 "$sleep_log")
  slept_from=$2 slept_to=$3 slept_stopped=$4
  slept_ms=$(((slept_to - slept_from) / 1000000))
}

# ask_sleeper SECONDS: one connection to its sshd; sets $sleep_answer to accepted, none (nothing came
# back at all), or why it was refused: who refuses is awake.
ask_sleeper() {
  sleep_answer=$(perl -MErrno -MIO::Socket::INET -e '
    my $socket = IO::Socket::INET->new(PeerAddr => $ARGV[0], PeerPort => $ARGV[1], Timeout => $ARGV[2]);
    print $socket ? "accepted" : $!{ETIMEDOUT} ? "none" : "$!"' \
    "$UNPLUG_NODE_ADDRESS" "$UNPLUG_NODE_PORT" "$1")
}

# The node wakes by itself. What is left to take back is a request that was not obeyed yet.
revert() {
  each_remembered end_sleeper
  [ "$kept_kind" != rtcwake ] || as_root rtcwake -m disable >/dev/null 2>&1 || :
}
end_sleeper() { # PID START BOOT
  if alive "$3" "$1" "$2"; then end_tree "$1"; fi
}

verify_reverted() {
  if [ "$UNPLUG_ROLE" = witness ]; then
    ask_sleeper 3
    facts answer "$sleep_answer"
    [ "$sleep_answer" = accepted ] || not_so "the node gives no answer: $sleep_answer"
    return
  fi
  sleeper_left=
  each_remembered note_sleeper
  sleep_tables=
  [ "$kept_kind" = rtcwake ] || sleep_tables=$(as_root nft list tables 2>/dev/null | grep -c unplug_sleep || :)
  facts sleeper "${sleeper_left# }" tables "${sleep_tables:-0}"
  [ -z "$sleeper_left" ] || not_so "the sleeper is still there:$sleeper_left" || return 1
  [ "${sleep_tables:-0}" -eq 0 ] || not_so "frames are still dropped; by hand: nft delete table inet unplug_sleep; nft delete table arp unplug_sleep"
}
note_sleeper() { # PID START BOOT
  if alive "$3" "$1" "$2"; then sleeper_left="$sleeper_left $1"; fi
}
