#!/usr/bin/perl
# One worker of the relay: worker.pl SEAT SHARE. Times are ns of CLOCK_BOOTTIME, the clock of the
# journal; a line is one write, and its time is read just before.
use strict;
use warnings;
use Time::HiRes qw(clock_gettime sleep);

my ($seat, $share) = @ARGV;
sub ns { sprintf '%d', clock_gettime(7) * 1e9 }
sub note { syswrite STDOUT, "$_[0]\n" }

# The handler runs between two steps of perl; while it sleeps that is at once.
$SIG{TERM} = sub { note('hit ' . ns()); exit 0 };
note('ready');
sleep 60 while $seat ne 'worker-1';

my ($n, $job, $ticks) = (0, "$share/queue/relay.job");
sleep 0.05 until -e $job;
{
  open my $in, '<', $job or die "$job: $!\n";
  $ticks = <$in> + 0;
}
while ($n++ < $ticks) {
  sleep 0.05;
  note("tick $n " . ns());
}
rename $job, "$share/done/relay.job" or die "$job: $!\n";
sleep 60 while 1;
