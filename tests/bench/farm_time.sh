#!/bin/sh
# How much observers and guards slow the undisturbed farm: renders the same job ROUNDS times
# without them and ROUNDS times with one observer and one armed guard on either node, in turns.
# One JSON line each: {"watched":false,"ms":N}. Usage: farm_time.sh ROUNDS
#
# Stills, which are rendered as fast as the machine can: the clips of scenarios keep to real time
# and would hide what is lost.
# shellcheck source=tests/shell/farm_lib.sh
. "$(dirname "$0")/../shell/farm_lib.sh"

rounds=${1:-3}
pictures=12
tab=$(printf '\t')

# As the product writes it for this target (harness/run/observe_conf.cpp).
write_conf() { # NODE SEAT
  {
    printf 'log\tlog@%s\t%s\n' "$2" "$box/$1/logs/worker.$2.log"
    [ "$1" != a ] || printf 'files\tshare\t200\t%s\t%s\n' "$scratch/farm" \
      "queue/*.job${tab}claimed/*/*.job${tab}done/*.job${tab}failed/*.job${tab}cancelled/*.job"
    printf 'procs\tprocs\t500\n'
    printf 'part\trenderer\tworker\t^ffmpeg \n'
    printf 'job\t%s\n' "$scratch"
  } >"$box/$1/observe.conf"
}

guard_verb() ( # NODE SEAT ROUND VERB: its trigger reads every line and never matches
  cd "$box/$1"
  UNPLUG_FAULT=kill$3 UNPLUG_ROLE=victim UNPLUG_PROCESS=worker UNPLUG_PROCESS_PART=worker UNPLUG_PROCESS_SEAT=$2 \
    UNPLUG_PROCESS_FOUND=record UNPLUG_LEASE=600 UNPLUG_HARD=600 UNPLUG_WHEN_LOG="logs/worker.$2.log" \
    UNPLUG_WHEN_MATCH='^frame ([^ ]+) ([0-9]+)$' UNPLUG_WHEN_FIELDS=n=2:ge:999999 \
    exec sh sh/verb.sh process_kill "$4"
)

watch_begins() { # NODE SEAT ROUND FD
  (cd "$box/$1" && sh sh/observe.sh start)
  guard_verb "$1" "$2" "$3" arm >/dev/null
  mkfifo "$box/$1/in$3"
  guard_verb "$1" "$2" "$3" guard <"$box/$1/in$3" >"$box/$1/out" &
  eval "exec $4>\"\$box/\$1/in\$3\""
  wait_until 5 grep -q '"armed"' "$box/$1/out" || failed "no guard"
  echo trigger >&"$4"
}

watch_ends() { # NODE FD
  echo revert >&"$2"
  eval "exec $2>&-"
  (cd "$box/$1" && sh sh/observe.sh stop)
}

render() { # NAME: sets $took
  begun=$(date +%s%N)
  verb a server-1 enqueue --id "$1" --sweep "$pictures" --test --prompt "a lighthouse" >/dev/null
  wait_until 60 all_done "$1" "$pictures" || failed "$1: $(state)"
  took=$((($(date +%s%N) - begun) / 1000000))
}

for node in a b; do
  mkdir -p "$box/$node/injectors"
  cp -R "$root/injectors/process_kill" "$box/$node/injectors/"
done
everywhere deploy
everywhere start
wait_until 10 all_ready || failed "the workers are not ready"
write_conf a worker-1
write_conf b worker-2
render warm

round=0
while [ "$round" -lt "$rounds" ]; do
  round=$((round + 1))
  render "bare$round"
  echo "{\"watched\":false,\"ms\":$took}"
  watch_begins a worker-1 "$round" 7
  watch_begins b worker-2 "$round" 8
  render "watched$round"
  echo "{\"watched\":true,\"ms\":$took}"
  watch_ends a 7
  watch_ends b 8
  wait
done
