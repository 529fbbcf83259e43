#include "embedded/rtcwake.hpp"

namespace unplug::embedded {

const char* const kRtcwake = R"sh(#!/bin/sh
set -eu
mode=suspend
seconds=
die() {
  echo "rtcwake: $*" >&2
  exit 1
}
while [ $# -gt 0 ]; do
  case $1 in
    -m | --mode) mode=$2 && shift ;;
    -m?*) mode=${1#-m} ;;
    --mode=*) mode=${1#*=} ;;
    -s | --seconds) seconds=$2 && shift ;;
    -s?*) seconds=${1#-s} ;;
    --seconds=*) seconds=${1#*=} ;;
    -d | --device | -A | --adjfile) shift ;;
    --list-modes) echo 'off no on disable show freeze mem' && exit 0 ;;
    -n | --dry-run) mode=show ;;
    -V | --version) echo 'rtcwake of an embedded lab' && exit 0 ;;
    -t | --time | --date) die 'this stand-in knows --seconds only' ;;
  esac
  shift
done
case $mode in
  show | disable | no | on) exit 0 ;;
  off) die 'an embedded node cannot be switched off' ;;
esac
[ -n "$seconds" ] || die 'must provide wake time (--seconds)'
before=$(cat /run/unplug/sleeps)
echo "sleep $seconds" >/run/firmware
tries=0
while [ "$(cat /run/unplug/sleeps)" = "$before" ]; do
  tries=$((tries + 1))
  [ "$tries" -le 200 ] || die 'the node did not go to sleep'
  sleep 0.05
done
)sh";

}  // namespace unplug::embedded
