#!/usr/bin/perl
# The observer of a node: one detached process that tails logs, reads folders and samples
# processes, stamps what it sees with the node's continuous clock and appends it to
# spool/observed, one JSON line a fact. docs/node-protocol.md, "Observing", is its contract.
#
#    logs ----\                                       /--> follow OFFSET --> SSH channel
#    folders --+--> look --> stamp --> spool/observed
#    /proc ---/                                       \--> follow OFFSET (after a reconnect)
#
# It never touches the target, never forks while it observes (darwin: one ps a sample), and
# never writes outside spool/. inotify only wakes it: what it reports comes from reading the
# file, so a missed wake costs a tenth of a second and no line.
#
# Needs what Debian's perl-base has, and no more; with Time::HiRes its stamps are finer.
use strict;
use warnings;
use Fcntl qw(:DEFAULT :seek :mode);

my $DARWIN = $^O eq 'darwin';
my $SPOOL = 'spool/observed';
my $OWNER = 'spool/observer';     # PID START BOOT of the living observer
my $POLL = 0.1;                   # s; the safety net under inotify
my $POLL_BLIND = 0.01;            # s; where there is no inotify
my $ALIVE = 1.0;                  # s; docs: a hole of over 2.5 s is a gap
my $FILES_AGAIN = 2.0;            # s; an unchanged folder is repeated this often
my $LONGEST_LINE = 65536;         # bytes of a line that are kept
my $LAST_LOOK = 2;                # s for what is not read yet when the observer is ended
my $MOST_A_LOOK = 4 << 20;        # bytes of a log that are read before all else has its turn
my $ROTATED_KEPT = 10.0;          # s; a rotated log is read on this long after it last grew
my $MOST_FILES = 10000;
my $MOST_PENDING = 8 << 20;       # bytes kept in memory while the spool's disk is full

# ---- clock, boot, identity of processes -------------------------------------------------

# Linux: CLOCK_BOOTTIME, the clock behind /proc/uptime (which has it in steps of 10 ms, and serves
# where Time::HiRes is not installed). darwin: CLOCK_MONOTONIC, which counts in sleep there.
my $FINE = eval { require Time::HiRes; 1 };

sub now {
  return Time::HiRes::clock_gettime($DARWIN ? Time::HiRes::CLOCK_MONOTONIC() : 7) if $FINE;
  return (split ' ', slurp('/proc/uptime'))[0];
}

sub ns { sprintf '%d', $_[0] * 1e9 }

sub slurp {
  my ($path, $most) = @_;
  sysopen(my $fh, $path, O_RDONLY) or return;
  my $text = '';
  my $n = sysread($fh, $text, $most || 1 << 16);
  return defined $n ? $text : undef;
}

sub boot_id {
  my $id = $DARWIN ? `sysctl -n kern.bootsessionuuid` : slurp('/proc/sys/kernel/random/boot_id');
  $id = '' unless defined $id;
  $id =~ s/\s+//g;
  return $id;
}

# Only who stays loads POSIX, which takes three times as long as all the rest: single looks are many.
my ($HZ, $PAGE_KB) = (0, 0);

sub load_posix {
  require POSIX;
  $HZ = POSIX::sysconf(POSIX::_SC_CLK_TCK()) || 100;
  $PAGE_KB = (POSIX::sysconf(POSIX::_SC_PAGESIZE()) || 4096) / 1024;
}

# pid => {start ppid pgrp sid state cpu_ms rss_kb comm exec}; undef when there is none.
# cpu_ms and rss_kb are an observer's alone.

sub read_stat {
  my ($pid) = @_;
  my $text = slurp("/proc/$pid/stat", 4096);
  return unless defined $text && $text =~ /^\d+ \((.*)\) (\S) (.*)$/s;
  my ($comm, $state, @f) = ($1, $2, split / /, $3);
  return {
    pid => $pid, comm => $comm, state => $state, ppid => $f[0], pgrp => $f[1], sid => $f[2],
    cpu_ms => $HZ && int(($f[10] + $f[11]) * 1000 / $HZ), start => $f[18], rss_kb => $f[20] * $PAGE_KB,
    # The stack's address is drawn anew by every exec: tells when a command line must be read
    # again, which is dear (it can block on a process that hangs in a page fault).
    exec => "$comm $f[24]",
  };
}

sub read_cmd {
  my ($pid) = @_;
  my $text = slurp("/proc/$pid/cmdline");
  return '' unless defined $text;
  $text =~ s/\0+\z//;
  $text =~ tr/\0/ /;
  return $text;
}

# darwin: not verified on hardware. START is the start second, all that ps tells.
my %MONTH;
@MONTH{qw(Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec)} = 0 .. 11;

sub read_ps {
  require POSIX;
  my %found;
  for (split /\n/, `LC_ALL=C ps -axo pid=,ppid=,pgid=,sess=,state=,rss=,time=,lstart=,command=`) {
    my ($pid, $ppid, $pgrp, $sid, $state, $rss, $time, $mon, $day, $h, $m, $s, $year, $cmd) =
      /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(\S)\S*\s+(\d+)\s+(\S+)\s+\S+\s+(\S+)\s+(\d+)\s+(\d+):(\d+):(\d+)\s+(\d+)\s+(.*)$/
      or next;
    my $cpu = 0;
    $cpu = $cpu * 60 + $_ for split /[:-]/, $time;
    $found{$pid} = {
      pid => $pid, ppid => $ppid, pgrp => $pgrp, sid => $sid, state => $state, rss_kb => $rss,
      cpu_ms => int($cpu * 1000), comm => (split m{/}, (split ' ', $cmd)[0])[-1], cmd => $cmd,
      start => POSIX::mktime($s, $m, $h, $day, $MONTH{$mon}, $year - 1900), exec => $cmd,
    };
  }
  return \%found;
}

sub start_of {
  my ($pid) = @_;
  my $p = $DARWIN ? read_ps()->{$pid} : read_stat($pid);
  return $p && $p->{state} ne 'Z' ? $p->{start} : undef;
}

# ---- JSON -------------------------------------------------------------------------------

my $UTF8 = qr/[\x00-\x7f]+|[\xc2-\xdf][\x80-\xbf]|\xe0[\xa0-\xbf][\x80-\xbf]
             |[\xe1-\xec\xee\xef][\x80-\xbf]{2}|\xed[\x80-\x9f][\x80-\xbf]
             |\xf0[\x90-\xbf][\x80-\xbf]{2}|[\xf1-\xf3][\x80-\xbf]{3}|\xf4[\x80-\x8f][\x80-\xbf]{2}/x;

sub text {
  my ($s) = @_;
  $s =~ s/($UTF8)|./defined $1 ? $1 : "\xef\xbf\xbd"/gse if $s =~ /[\x80-\xff]/;
  $s =~ s/([\x00-\x1f"\\\x7f])/$1 eq '"' || $1 eq '\\' ? "\\$1" : sprintf '\\u%04x', ord $1/ge;
  return "\"$s\"";
}

sub list { '[' . join(',', @_) . ']' }

# ---- the spool --------------------------------------------------------------------------

my ($spool_fh, $pending) = (undef, '');

sub open_spool {
  sysopen($spool_fh, $SPOOL, O_RDWR | O_CREAT | O_APPEND, 0600) or die "$SPOOL: $!\n";
  # A line torn by a crash is closed, not cut: followers may have read it already.
  my $size = -s $spool_fh;
  return unless $size;
  sysseek($spool_fh, $size - 1, SEEK_SET);
  sysread($spool_fh, my $last, 1);
  $pending = "\n" if $last ne "\n";
}

sub say_line { $pending .= "{$_[0]}\n" }

# A full disk must not end the observer: what it saw waits in memory, with its own stamps.
sub flush_spool {
  while (length $pending) {
    my $n = syswrite($spool_fh, $pending);
    if (!defined $n) {
      next if $!{EINTR};
      die "$SPOOL: $!\n" if length $pending > $MOST_PENDING;
      return;
    }
    substr($pending, 0, $n, '');
  }
}

# ---- inotify: a wake-up, nothing more ---------------------------------------------------

my %CALLS = (x86_64 => [294, 254], aarch64 => [26, 27], riscv64 => [26, 27], ppc64le => [318, 276],
             s390x => [324, 285]);
my ($wake_fd, $wake_fh, $wake_calls);

sub open_wake {
  return if $^O ne 'linux' || length pack('p', '') != 8;  # the numbers are those of 64 bits
  require POSIX;
  $wake_calls = $CALLS{(POSIX::uname())[4]} or return;
  my $fd = syscall($wake_calls->[0], O_NONBLOCK | 02000000);
  return if $fd < 0;
  open($wake_fh, '<&=', $fd) or return;
  $wake_fd = $fd;
}

# Modified, created, moved here, closed after writing; gone tells that the watch must be renewed.
my %watched;

sub watch {
  my ($folder) = @_;
  return if !defined $wake_fd || $watched{$folder};
  my $path = "$folder\0";
  my $wd = syscall($wake_calls->[1], $wake_fd, $path, 0x2 | 0x8 | 0x80 | 0x100 | 0x400 | 0x800);
  $watched{$folder} = $wd if $wd >= 0;
}

# Empties the queue. Returns the folders that something happened in.
sub woken {
  my %seen;
  while (sysread($wake_fh, my $events, 65536)) {
    while (length $events >= 16) {
      my ($wd, $mask, undef, $len) = unpack 'iLLL', $events;
      substr($events, 0, 16 + $len, '');
      for (grep { $watched{$_} == $wd } keys %watched) {
        $seen{$_} = 1;
        delete $watched{$_} if $mask & (0x400 | 0x800 | 0x8000);
      }
    }
  }
  return \%seen;
}

# ---- configuration ----------------------------------------------------------------------

sub read_conf {
  my %conf = (log => [], files => [], procs => undef, part => [], job => []);
  open(my $fh, '<', 'observe.conf') or die "observe.conf: $!\n";
  while (<$fh>) {
    chomp;
    next if /^(#|\s*$)/;
    my ($kind, @f) = split /\t/;
    if ($kind eq 'log' && @f == 2) {
      push @{$conf{log}}, {id => $f[0], path => $f[1], open => [], resume => {}};
    } elsif ($kind eq 'files' && @f >= 3) {
      my ($id, $every, $folder, @globs) = @f;
      push @{$conf{files}}, {id => $id, every => $every / 1000, folder => $folder, due => 0,
                             last => '', said => 0, globs => [map { [map { glob_re($_) } split m{/}, $_] } @globs]};
    } elsif ($kind eq 'procs' && @f == 2) {
      $conf{procs} = {id => $f[0], every => $f[1] / 1000, due => 0};
    } elsif ($kind eq 'part' && @f == 3) {
      my $re = ere($f[2]);
      push @{$conf{part}}, {name => $f[0], parent => $f[1], re => qr/$re/};
    } elsif ($kind eq 'job' && @f == 1) {
      (my $folder = $f[0]) =~ s{/+\z}{};
      push @{$conf{job}}, $folder if length $folder;
    } else {
      die "observe.conf:$.: cannot read \"$_\"\n";
    }
  }
  return \%conf;
}

# POSIX extended expressions are Perl's but for a backslash inside brackets, which is itself.
sub ere {
  my ($re) = @_;
  $re =~ s{(\\.)|(\[\^?\]?(?:\[[:.=].*?[:.=]\]|[^\]])*\])}
          {if (defined $1) { $1 } else { (my $b = $2) =~ s/\\/\\\\/g; $b }}gse;
  return $re;
}

# One component of a glob; like sh's, a star does not find a leading dot.
sub glob_re {
  my ($glob) = @_;
  my $re = $glob =~ /^[*?[]/ ? '(?!\.)' : '';
  while ($glob =~ /\G(?:(\*)|(\?)|(\[[!^]?\]?[^\]]*\])|(.))/gs) {
    if (defined $1) { $re .= '[^/]*' }
    elsif (defined $2) { $re .= '[^/]' }
    elsif (defined $3) { (my $set = $3) =~ s/^\[!/[^/; $re .= $set }
    else { $re .= quotemeta $4 }
  }
  return {re => qr/\A$re\z/s, plain => $glob =~ /[*?[]/ ? undef : $glob};
}

# ---- logs -------------------------------------------------------------------------------

# A log is a path and the files that were found under it: the present one, and rotated ones
# that may still be written to by whoever holds them open.
my $unread = 0;  # a log has more than one look may read

sub look_at_logs {
  my ($conf, $now) = @_;
  $unread = 0;
  look_at_log($_, $now) for @{$conf->{log}};
}

sub look_at_log {
  my ($log, $now) = @_;
  my ($folder) = $log->{path} =~ m{^(.*)/[^/]*\z};
  watch(defined $folder && length $folder ? $folder : '.');
  my $open = $log->{open};
  if (my @st = stat $log->{path}) {
    my $known = @$open ? $open->[-1] : undef;
    open_log($log, $now) if !$known || $known->{dev} != $st[0] || $known->{inode} != $st[1];
  }
  read_log($log, $_, $now) for @$open;
  @$open = grep { $_ == $open->[-1] || $now - $_->{grew} < $ROTATED_KEPT } @$open;
}

sub open_log {
  my ($log, $now) = @_;
  sysopen(my $fh, $log->{path}, O_RDONLY | O_NONBLOCK) or return;
  my @st = stat $fh;
  return unless S_ISREG($st[2]);
  return if grep { $_->{dev} == $st[0] && $_->{inode} == $st[1] } @{$log->{open}};
  my $file = {fh => $fh, dev => $st[0], inode => $st[1], at => 0, buf => '', skip => 0, grew => $now};
  # An observer that was started again goes on after the last line that the spool has.
  my $resume = delete $log->{resume}{$st[1]};
  if (defined $resume && $resume < $st[7]) {
    $file->{at} = $resume;
    $file->{skip} = 1;
    sysseek($fh, $resume, SEEK_SET);
  }
  push @{$log->{open}}, $file;
}

# `at` is the offset of the first byte of `buf`, the part of a line that has no end yet.
sub read_log {
  my ($log, $file, $now) = @_;
  my $read = $file->{at} + length $file->{buf};
  if (-s $file->{fh} < $read) {  # truncated in place: it begins again
    @$file{qw(at buf skip)} = (0, '', 0);
    sysseek($file->{fh}, 0, SEEK_SET);
  }
  my $most = $read + $MOST_A_LOOK;
  while (sysread($file->{fh}, $file->{buf}, 65536, length $file->{buf})) {
    $file->{grew} = $now;
    my $from = 0;
    while ((my $end = index($file->{buf}, "\n", $from)) >= 0) {
      my $kept = $end - $from;
      $kept = $LONGEST_LINE if $kept > $LONGEST_LINE;
      if ($file->{skip}) { $file->{skip} = 0 }
      else { log_line($log, $file, $file->{at} + $from, substr($file->{buf}, $from, $kept)) }
      $from = $end + 1;
    }
    $file->{at} += $from;
    substr($file->{buf}, 0, $from, '');
    drop_rest($log, $file) if length $file->{buf} > $LONGEST_LINE;
    next if $file->{at} < $most;
    $unread = 1;
    last;
  }
}

# A line that is too long before it ends is told now, and no more of it is kept.
sub drop_rest {
  my ($log, $file) = @_;
  log_line($log, $file, $file->{at}, substr($file->{buf}, 0, $LONGEST_LINE)) unless $file->{skip};
  $file->{skip} = 1;
  $file->{at} += length $file->{buf};
  $file->{buf} = '';
}

sub log_line {
  my ($log, $file, $offset, $line) = @_;
  say_line(sprintf '"k":"line","o":%s,"nt":%s,"inode":%d,"offset":%d,"text":%s',
           text($log->{id}), ns(now()), $file->{inode}, $offset, text($line));
}

# Where each log stood when an earlier observer of this run wrote its last line.
sub find_resume {
  my ($logs) = @_;
  my %by_id = map { text($_->{id}) => $_ } @$logs;
  open(my $fh, '<', $SPOOL) or return;
  while (<$fh>) {
    next unless /^\{"k":"line","o":("(?:[^"\\]|\\.)*"),"nt":\d+,"inode":(\d+),"offset":(\d+),/;
    $by_id{$1}{resume}{$2} = $3 if $by_id{$1};
  }
}

# ---- folders ----------------------------------------------------------------------------

sub match_glob {
  my ($folder, $relative, $globs, $found) = @_;
  my ($first, @rest) = @$globs;
  my @names;
  if (defined $first->{plain}) {
    @names = ($first->{plain});
  } elsif (opendir my $dh, "$folder/$relative") {
    @names = grep { !/^\.\.?\z/ && $_ =~ $first->{re} } readdir $dh;
  }
  for (@names) {
    my $path = length $relative ? "$relative/$_" : $_;
    if (@rest) { match_glob($folder, $path, \@rest, $found) }
    elsif (my @st = lstat "$folder/$path") { $found->{$path} = $st[7] unless S_ISDIR($st[2]) }
  }
}

sub read_folder {
  my ($files) = @_;
  my %found;
  match_glob($files->{folder}, '', $_, \%found) for @{$files->{globs}};
  return list(map { list(text($_), $found{$_}) } sort keys %found);
}

# A rename between the reading of two folders shows an item twice or not at all; two reads that
# agree are believed.
sub look_at_folder {
  my ($files, $now) = @_;
  my ($clean, $before) = ('false', read_folder($files));
  for (1 .. 4) {
    my $again = read_folder($files);
    my $agree = $again eq $before;
    $before = $again;
    if ($agree) { $clean = 'true'; last }
  }
  my $what = "\"clean\":$clean,\"files\":$before";
  # A change is told twice, so that it can be known to have lasted: checks believe no single look.
  $files->{looks} = $what eq $files->{last} ? $files->{looks} + 1 : 1;
  return if $files->{looks} > 2 && $now - $files->{said} < $FILES_AGAIN;
  @$files{qw(last said)} = ($what, $now);
  say_line(sprintf '"k":"files","o":%s,"nt":%s,%s', text($files->{id}), ns(now()), $what);
}

# ---- processes --------------------------------------------------------------------------
#
# The job's set: recorded by rank.sh; descended from a member; in a group or session that a
# member leads; or newer than the observer and working in the job's folders (working directory,
# arguments, open files). Once in, a process stays in until it is gone, whoever its parent is.

my (%member, %foreign, %leader, %recorded);  # by pid but `recorded`, by file name
my ($boot, $born, $samples) = ('', 0, 0);
my ($parts, $jobs) = ([], []);  # of the configuration

# Other people's processes are looked at again only every tenth sample: on a busy host they are
# nearly all there are, and reading each of them is what costs.
sub read_processes {
  return read_ps() if $DARWIN;
  my (%now, $again);
  $again = $samples++ % 10 == 0;
  opendir(my $dh, '/proc') or return {};
  for my $pid (grep { /^\d+\z/ } readdir $dh) {
    next if !$again && $foreign{$pid} && !$member{$pid} && $foreign{$pid} < $born;
    my $p = read_stat($pid) or next;
    $now{$pid} = $p;
  }
  return \%now;
}

sub read_records {
  my @new;
  opendir(my $dh, 'procs') or return @new;
  for my $name (grep { /^\d+\z/ } readdir $dh) {
    my @st = stat "procs/$name" or next;
    my $mark = "$st[1] $st[9]";
    next if ($recorded{$name} || '') eq $mark;
    my $line = slurp("procs/$name", 4096);
    next unless defined $line && $line =~ /^(\S+) (\S+) (\d+) (\d+) (\S+)/;
    $recorded{$name} = $mark;
    push @new, {part => $1, seat => $2, pid => $3, start => $4} if $5 eq $boot;
  }
  return @new;
}

sub proc_line {
  my ($id, $edge, $m) = @_;
  say_line(sprintf '"k":"proc","o":%s,"nt":%s,"edge":"%s","pid":%d,"start":%d,"ppid":%d,"part":%s,'
           . '"seat":%s,"state":"%s","cpu_ms":%d,"rss_kb":%d,"cmd":%s', text($id), ns(now()), $edge,
           @$m{qw(pid start ppid)}, text($m->{part}), text($m->{seat}), $m->{state},
           @$m{qw(cpu_ms rss_kb)}, text($m->{cmd}));
}

sub join_set {
  my ($id, $p, $part, $seat, $parent) = @_;
  my $m = {%$p, part => $part, seat => $seat, parent => $parent, edge => 'start'};
  $m->{cmd} = command_of($m, $p);
  $member{$p->{pid}} = $m;
  $leader{$p->{pid}} = $p->{start} if $p->{pid} == $p->{pgrp} || $p->{pid} == $p->{sid};
  name_part($m);
  return $m;
}

sub command_of {
  my ($m, $p) = @_;
  return $p->{cmd} if defined $p->{cmd};
  my $cmd = read_cmd($p->{pid});
  return length $cmd ? $cmd : defined $m->{cmd} ? $m->{cmd} : "[$p->{comm}]";
}

# The renderer of a worker: named by its parent's part and its own command line. Asked again
# after an exec, since a child is its parent's copy first.
sub name_part {
  my ($m) = @_;
  return if length $m->{part} || !$m->{parent};
  for (@$parts) {
    next unless $m->{parent}{part} eq $_->{parent} && $m->{cmd} =~ $_->{re};
    @$m{qw(part seat)} = ($_->{name}, $m->{parent}{seat});
    return;
  }
}

sub led_by_member {
  my ($p) = @_;
  for my $lead (@$p{qw(pgrp sid)}) {
    return 1 if $lead != $p->{pid} && defined $leader{$lead} && $leader{$lead} <= $p->{start};
  }
  return 0;
}

# Our own calls carry the job's folders in their arguments, and whoever reads or mounts the
# share over SSH has an sftp-server here: neither is the job's.
sub is_ours {
  my ($pid, $now) = @_;
  for (my $hops = 0; $pid > 1 && $hops < 32; $hops++) {
    my $p = $now->{$pid} or return 0;
    return 1 if $pid == $$ || $p->{comm} =~ /^(sftp-server|sshd.*)\z/ && $hops == 0;
    $p->{cmd} = read_cmd($pid) unless defined $p->{cmd};
    return 1 if $p->{cmd} =~ m{^\S*(?:sh|perl) (?:\S+ )*?\S*\b(?:verb|observe|guard|heal)\.(?:sh|pl)\b};
    $pid = $p->{ppid};
  }
  return 0;
}

# $p's working directory, an open file or an argument lies in one of the job's folders.
sub works_in_job {
  my ($p, $now) = @_;
  return 0 if !@$jobs || $p->{start} < $born || $p->{state} eq 'Z';
  $p->{cmd} = read_cmd($p->{pid}) unless defined $p->{cmd};
  my @where;
  push @where, readlink "/proc/$p->{pid}/cwd" unless $DARWIN;
  if (!$DARWIN && opendir my $dh, "/proc/$p->{pid}/fd") {
    push @where, map { readlink "/proc/$p->{pid}/fd/$_" } grep { /^\d/ } readdir $dh;
  }
  for my $job (@$jobs) {
    my $in = qr{^\Q$job\E(?:/|\z)};
    return !is_ours($p->{pid}, $now)
      if $p->{cmd} =~ m{(?:^|[ =:,"'])\Q$job\E(?:[/ :,"']|\z)} || grep { defined && $_ =~ $in } @where;
  }
  return 0;
}

sub look_at_processes {
  my ($procs) = @_;
  my $id = $procs->{id};
  my @records = read_records();
  my $now = read_processes();

  for my $pid (keys %member) {
    my ($m, $p) = ($member{$pid}, $now->{$pid});
    if (!$p || $p->{start} != $m->{start} || $p->{state} eq 'Z') {
      # A zombie runs no more; that nobody has reaped it says nothing about the job.
      $m->{state} = $p && $p->{start} == $m->{start} ? 'Z' : '';
      proc_line($id, 'gone', $m);
      delete $member{$pid};
    } else {
      my $other = $p->{exec} ne $m->{exec};
      @$m{qw(ppid pgrp sid state cpu_ms rss_kb exec comm)} = @$p{qw(ppid pgrp sid state cpu_ms rss_kb exec comm)};
      $leader{$pid} = $m->{start} if $pid == $m->{pgrp} || $pid == $m->{sid};
      if ($other) {
        $m->{cmd} = command_of($m, $p);
        name_part($m);
      }
      $m->{edge} = 'sample';
    }
  }

  for my $r (@records) {
    my ($m, $p) = ($member{$r->{pid}}, $now->{$r->{pid}});
    if ($m && $m->{start} == $r->{start}) {  # seen as a descendant before its record was
      @$m{qw(part seat)} = @$r{qw(part seat)};
    } elsif ($p && $p->{start} == $r->{start} && $p->{state} ne 'Z') {
      join_set($id, $p, $r->{part}, $r->{seat}, $member{$p->{ppid}});
    } else {  # came and went between two looks: its record is all there is
      my $brief = {%$r, ppid => 0, state => '', cpu_ms => 0, rss_kb => 0, cmd => ''};
      proc_line($id, $_, $brief) for qw(start gone);
    }
  }

  my @others = sort { $a->{start} <=> $b->{start} || $a->{pid} <=> $b->{pid} }
    grep { !$member{$_->{pid}} && $_->{state} ne 'Z' } values %$now;
  my $found = 1;
  while ($found) {
    $found = 0;
    for my $p (@others) {
      next if $member{$p->{pid}};
      my $parent = $member{$p->{ppid}};
      next unless $parent && $parent->{start} <= $p->{start} || led_by_member($p) || works_in_job($p, $now);
      join_set($id, $p, '', '', $parent);
      $found = 1;
    }
  }
  %foreign = (%foreign, map { $_->{pid} => $_->{start} } @others);
  delete @foreign{grep { !$now->{$_} } keys %foreign} if ($samples - 1) % 10 == 0;

  proc_line($id, $_->{edge}, $_) for sort { $a->{start} <=> $b->{start} || $a->{pid} <=> $b->{pid} } values %member;
}

# ---- the observer's life ----------------------------------------------------------------

sub observe {
  my $conf = read_conf();
  ($parts, $jobs) = @$conf{qw(part job)};
  my $stop = 0;
  $SIG{HUP} = 'IGNORE';
  $SIG{PIPE} = 'IGNORE';
  $SIG{$_} = sub { $stop = 1 } for qw(TERM INT);

  find_resume($conf->{log});
  open_spool();
  open_wake();
  $boot = boot_id();
  my $me = start_of($$);
  $born = $me;
  my $tmp = "$OWNER.$$";
  open(my $fh, '>', $tmp) or die "$tmp: $!\n";
  print $fh "$$ $me $boot\n";
  close $fh or die "$tmp: $!\n";
  rename $tmp, $OWNER or die "$OWNER: $!\n";

  say_line(sprintf '"k":"begin","boot":%s,"nt":%s', text($boot), ns(now()));
  my $alive = now();
  my %due = (logs => 0);
  my $seen = {};
  until ($stop) {
    my $now = now();
    watch('procs') if $conf->{procs};
    look_at_logs($conf, $now);
    flush_spool();  # lines first: triggers wait for them
    for (grep { $_->{due} <= $now } @{$conf->{files}}) {
      look_at_folder($_, $now);
      $_->{due} = $now + $_->{every};
    }
    if (my $procs = $conf->{procs}) {
      if ($procs->{due} <= $now || $seen->{procs}) {
        look_at_processes($procs);
        $procs->{due} = now() + $procs->{every};
      }
    }
    if ($now - $alive >= $ALIVE) {
      last unless -d 'spool';  # the run's folder is gone: nobody will end us any more
      say_line('"k":"alive","nt":' . ns(now()));
      $alive = $now;
    }
    flush_spool();
    $seen = rest($conf, $alive + $ALIVE);
  }

  my $now = now();
  do { look_at_logs($conf, $now) } while $unread && now() - $now < $LAST_LOOK;
  $_->{said} = 0, look_at_folder($_, $now) for @{$conf->{files}};
  $samples = 0;  # the last look spares nothing
  look_at_processes($conf->{procs}) if $conf->{procs};
  say_line('"k":"end","nt":' . ns(now()));
  flush_spool();
  unlink $OWNER;
}

# Sleeps until something is due or a watched folder changed; says which.
sub rest {
  my ($conf, $until) = @_;
  my $now = now();
  my $next = $now + (defined $wake_fd || !@{$conf->{log}} ? $POLL : $POLL_BLIND);
  for ($until, map { $_->{due} } @{$conf->{files}}, $conf->{procs} || ()) {
    $next = $_ if $_ < $next;
  }
  my $wait = $next > $now && !$unread ? $next - $now : 0;
  if (!defined $wake_fd) {
    select undef, undef, undef, $wait;
    return {};
  }
  my $bits = '';
  vec($bits, $wake_fd, 1) = 1;
  return select($bits, undef, undef, $wait) > 0 ? woken() : {};
}

# PID of the living observer of this run, or undef.
sub owner {
  my $line = slurp($OWNER, 4096);
  return unless defined $line && $line =~ /^(\d+) (\d+) (\S+)/;
  my ($pid, $start, $of) = ($1, $2, $3);
  my $lives = start_of($pid);
  return defined $lives && $lives == $start && $of eq boot_id() ? $pid : undef;
}

sub wait_for {
  my ($seconds, $condition) = @_;
  my $until = now() + $seconds;
  until ($condition->()) {
    return 0 if now() > $until;
    select undef, undef, undef, 0.01;
  }
  return 1;
}

sub refuse { print STDERR "$_[0]\n"; exit 1 }

sub last_line {
  open(my $fh, '<', $SPOOL) or return '';
  my $size = -s $fh;
  seek $fh, $size > 4096 ? $size - 4096 : 0, 0;
  my $last = '';
  while (<$fh>) { $last = $_ }
  return $last;
}

sub start {
  return if owner();
  load_posix();
  mkdir 'spool';
  read_conf();  # a mistake in it is told here, where somebody listens
  my $pid = fork;
  defined $pid or refuse("cannot fork: $!");
  if (!$pid) {
    POSIX::setsid();
    # A second fork: no session leader, so that no terminal can ever become ours.
    exit 0 if fork;
    open STDIN, '<', '/dev/null';
    open STDOUT, '>', '/dev/null';
    open STDERR, '>>', 'spool/observer.err';
    # The channel's other descriptors would keep it open for as long as we live.
    POSIX::close($_) for 3 .. 255;
    eval { observe(); 1 } or print STDERR $@;
    POSIX::_exit(0);
  }
  waitpid $pid, 0;
  wait_for(5, sub { owner() }) or refuse('the observer did not start: ' . (slurp('spool/observer.err') || 'no reason'));
}

# The reader of our output may go while there is nothing to print: a pipe without a reader turns
# readable, and a session that ends leaves us to another parent.
sub follow {
  my ($at) = @_;
  $at =~ /^\d+\z/ or refuse('usage: observe.sh follow OFFSET');
  $SIG{PIPE} = 'DEFAULT';
  my $parent = getppid;
  my $pipe = -p STDOUT;
  open_wake();
  my ($fh, $text);
  while (1) {
    watch('spool');
    if (!$fh && sysopen $fh, $SPOOL, O_RDONLY) { sysseek $fh, $at, SEEK_SET }
    while ($fh && sysread $fh, $text, 65536) {
      while (length $text) {
        my $n = syswrite STDOUT, $text;
        exit 0 if !defined $n && !$!{EINTR};
        substr($text, 0, $n, '') if defined $n;
      }
    }
    my $bits = '';
    vec($bits, $wake_fd, 1) = 1 if defined $wake_fd;
    vec($bits, 1, 1) = 1 if $pipe;
    select $bits, undef, undef, $watched{spool} ? 1 : $POLL_BLIND;
    exit 0 if vec($bits, 1, 1) || getppid != $parent;
    woken() if defined $wake_fd;
  }
}

sub stop {
  my $pid = owner();
  if ($pid) {
    kill 'TERM', $pid;
    kill 'CONT', $pid;
    wait_for(5, sub { !owner() }) or refuse("the observer (pid $pid) did not end within 5 s");
  }
  last_line() =~ /^\{"k":"end"/ or refuse('the observer had ended without a last look; what it would have seen is missing');
}

# ---- single looks -----------------------------------------------------------------------

# [mount point, type, device]; read without touching a mount, since one of them may hang.
sub mounts {
  my @found;
  if ($DARWIN) {
    push @found, /^\S+ on (.*) \(([^,)]+)/ ? [$1, $2] : () for split /\n/, `mount`;
  } elsif (open my $fh, '<', '/proc/self/mountinfo') {
    while (<$fh>) {
      my ($point, $type) = /^\S+ \S+ \S+ \S+ (\S+) .*? - (\S+) / or next;
      $point =~ s/\\([0-7]{3})/chr oct $1/ge;
      push @found, [$point, $type];
    }
  }
  return @found;
}

# Names below each folder, without following links. A network mount is another node's folder,
# which is listed there; a dead one would hang us here.
sub files {
  my %remote = map { $_->[0] => 1 } grep { $_->[1] =~ /^(fuse\.|fuse$|nfs|cifs|smb|afp|webdav|macfuse|osxfuse)/ } mounts();
  my (@found, $truncated);
  for (@_) {
    my ($name, $root) = /^([^=]+)=(.+)\z/s or refuse("\"$_\" is not NAME=FOLDER");
    $root =~ s{(?<=.)/+\z}{};
    my @open = ('');
    while (@open && !$truncated) {
      my $below = shift @open;
      my $folder = length $below ? "$root/$below" : $root;
      next if $remote{$folder};
      opendir(my $dh, $folder) or next;
      for (sort grep { !/^\.\.?\z/ } readdir $dh) {
        my $path = length $below ? "$below/$_" : $_;
        my $is_folder = $remote{"$root/$path"} || (lstat "$root/$path" and -d _);
        push @open, $path if $is_folder;
        push @found, "$name:$path" . ($is_folder ? '/' : '');
        $truncated = 1, last if @found >= $MOST_FILES;
      }
    }
  }
  printf "{\"files\":%s,\"truncated\":%s}\n", list(map { text($_) } sort @found), $truncated ? 'true' : 'false';
}

sub ports {
  my %found;
  if ($DARWIN) {
    /^tcp[46]+\s+\d+\s+\d+\s+(\S+)\.(\d+)\s.*LISTEN/ and $found{"tcp $1:$2"} = 1 for split /\n/, `netstat -anp tcp`;
    return sort keys %found;
  }
  for my $table (qw(tcp tcp6)) {
    open(my $fh, '<', "/proc/net/$table") or next;
    while (<$fh>) {
      my ($address, $port) = /^\s*\d+: ([0-9A-F]+):([0-9A-F]{4}) \S+ 0A / or next;
      # Words of 32 bits, each in the machine's own byte order.
      my $bytes = join '', map { pack 'L', hex } $address =~ /(.{8})/g;
      my $text = length $bytes == 4 ? join('.', unpack 'C4', $bytes)
                                    : '[' . join(':', map { sprintf '%x', $_ } unpack 'n8', $bytes) . ']';
      $found{"tcp $text:" . hex $port} = 1;
    }
  }
  return sort keys %found;
}

sub system_look {
  my %mounts = map { ("$_->[0] $_->[1]" => 1) } mounts();
  printf "{\"ports\":%s,\"mounts\":%s}\n", list(map { text($_) } ports()), list(map { text($_) } sort keys %mounts);
}

# Who works in these folders, and is neither ours nor one of those who asked; a PID:START is listed
# as long as it lives, wherever it works.
sub works {
  my (%asked, %above, @found);
  /^(\d+:\d+)\z/ ? $asked{$1} = 1 : push @$jobs, $_ for @_;
  s{(?<=.)/+\z}{} for @$jobs;
  my $now = read_processes();
  for (my $pid = $$; $now->{$pid}; $pid = $now->{$pid}{ppid}) { $above{$pid} = 1 }
  for my $p (sort { $a->{pid} <=> $b->{pid} } values %$now) {
    next if $p->{state} eq 'Z' || $above{$p->{pid}};
    next unless $asked{"$p->{pid}:$p->{start}"} || works_in_job($p, $now);
    push @found, sprintf '{"pid":%d,"start":%d,"cmd":%s}', @$p{qw(pid start)}, text(command_of({}, $p));
  }
  printf "{\"boot\":%s,\"processes\":%s}\n", text(boot_id()), list(@found);
}

my %verbs = (start => \&start, follow => \&follow, stop => \&stop, files => \&files, works => \&works,
             system => \&system_look);
my $verb = shift @ARGV;
my $do = defined $verb ? $verbs{$verb} : undef;
$do or refuse('usage: observe.sh start | follow OFFSET | stop | files NAME=FOLDER... | works FOLDER|PID:START... | system');
$| = 1;
eval { $do->(@ARGV); 1 } or do { chomp(my $why = $@); refuse($why) };
