#!/bin/sh
# The relay's verbs on a node: see target.json. Its only item is "relay", done when worker 1 has
# ticked as often as `enqueue` was told.
# shellcheck disable=SC2154,SC2317 # what the prelude answers; functions that are called by name

deploy() {
  mkdir -p "$UNPLUG_LOGS"
  case $UNPLUG_SEAT in server-*) mkdir -p "$UNPLUG_FOLDER_SHARE/queue" "$UNPLUG_FOLDER_SHARE/done" ;; esac
}

start() {
  sh sh/rank.sh worker "$UNPLUG_SEAT" perl "$PWD/targets/relay/worker.pl" "$UNPLUG_SEAT" "$UNPLUG_FOLDER_SHARE" \
    </dev/null >>"$UNPLUG_LOGS/worker.$UNPLUG_SEAT.log" 2>>"$UNPLUG_LOGS/worker.$UNPLUG_SEAT.err" &
}

ready() { grep -q '^ready' "$UNPLUG_LOGS/worker.$UNPLUG_SEAT.log" 2>/dev/null; }

# enqueue TICKS
enqueue() {
  echo "$1" >"$UNPLUG_FOLDER_SHARE/.relay"
  mv "$UNPLUG_FOLDER_SHARE/.relay" "$UNPLUG_FOLDER_SHARE/queue/relay.job"
}

stop() {
  boot_of_node
  for relay_record in procs/[0-9]*; do
    read -r _ relay_seat relay_pid relay_start _ 2>/dev/null <"$relay_record" || continue
    [ "$relay_seat" = "$UNPLUG_SEAT" ] || continue
    if alive "$boot_id" "$relay_pid" "$relay_start"; then kill -KILL "$relay_pid"; fi
  done
}

remove() {
  case $UNPLUG_SEAT in server-*) rm -rf -- "$UNPLUG_FOLDER_SHARE" ;; esac
}
