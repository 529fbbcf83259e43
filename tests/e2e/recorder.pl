#!/usr/bin/perl
# A login shell that notes in /run/recorded how it was called and every byte of its stdin, and has
# /bin/sh do the work: N.argv (arguments, a NUL after each) and N.stdin.
use strict;
use warnings;
use POSIX ':sys_wait_h';
use Time::HiRes 'time';

my $base = sprintf '/run/recorded/%.6f.%d', time, $$;
open my $argv, '>', "$base.argv.new" or die "$base: $!";
print $argv map { "$_\0" } @ARGV;
close $argv;
rename "$base.argv.new", "$base.argv";
open my $copy, '>', "$base.stdin" or die "$base: $!";
$copy->autoflush(1);

$SIG{PIPE} = 'IGNORE';
$SIG{CHLD} = sub { };
pipe my $reader, my $writer or die "pipe: $!";
my $child = fork // die "fork: $!";
if (!$child) {
  close $writer;
  close $copy;
  open STDIN, '<&', $reader or die "stdin: $!";
  close $reader;
  $SIG{PIPE} = $SIG{CHLD} = 'DEFAULT';
  exec { '/bin/sh' } 'sh', @ARGV or die "exec: $!";
}
close $reader;

my $open = 1;
while (waitpid($child, WNOHANG) == 0) {
  # The end of the child interrupts select; should it come just before, the time does.
  my $ready = '';
  vec($ready, 0, 1) = 1 if $open;
  next if select($ready, undef, undef, 0.1) <= 0;
  my $count = sysread STDIN, my $bytes, 65536;
  next if !defined $count;
  if ($count == 0) {
    close $writer;
    $open = 0;
    next;
  }
  print $copy $bytes;
  while (length $bytes) {
    my $written = syswrite $writer, $bytes;
    last if !defined $written && !$!{EINTR};
    substr $bytes, 0, $written // 0, '';
  }
}
kill $? & 127, $$ if WIFSIGNALED($?);
exit WEXITSTATUS($?);
