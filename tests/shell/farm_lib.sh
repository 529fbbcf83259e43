#!/bin/sh
# What the farm's tests share: two "nodes", which are two run folders that share one folder (no ssh:
# what a network file system adds is tried in the embedded lab), their workers, an observer of the
# share, and questions about what is there.
#
# UNPLUG_SH names another shell to run the farm with: "bash --posix".
# Exit of a test: 0 pass, 1 failed, 77 skipped, 99 the test itself broke.
# shellcheck disable=SC2034 # tests read what is set here
set -eu
test=${0##*/}

command -v ffmpeg >/dev/null 2>&1 || {
  echo "$test: skipped, no ffmpeg"
  exit 77
}
root=$(cd "$(dirname "$0")/../.." && pwd)
box=$(mktemp -d) || exit 99
HOME=$box/home
export HOME
scratch=$box/scratch
mkdir -p "$HOME" "$scratch" "$box/bin"
# The farm starts its scripts with `sh`.
printf '#!/bin/sh\nexec %s "$@"\n' "${UNPLUG_SH:-dash}" >"$box/bin/sh"
chmod +x "$box/bin/sh"
PATH=$box/bin:$PATH

make_node() {
  mkdir -p "$box/$1/sh" "$box/$1/targets" "$box/$1/procs" "$box/$1/logs"
  cp "$root"/injectors/sh/*.sh "$root"/injectors/sh/observe.pl "$box/$1/sh/"
  cp -R "$root/fixtures/farm" "$box/$1/targets/farm"
}
make_node a
make_node b

# verb NODE SEAT VERB [ARG...]
verb() (
  cd "$box/$1"
  UNPLUG_SEAT=$2
  verb=$3
  shift 3
  export UNPLUG_SEAT
  UNPLUG_SCRATCH=$scratch UNPLUG_PEERS="server-1=127.0.0.1 worker-1=127.0.0.1 worker-2=127.0.0.1" \
    UNPLUG_PARAM_CLAIM_LEASE=2 UNPLUG_PARAM_STOP_WITHIN=3 UNPLUG_FOLDER_SHARE=$scratch/farm \
    UNPLUG_FOLDER_MOUNT=$scratch/share UNPLUG_FOLDER_WORK="$scratch/work-$UNPLUG_SEAT" \
    UNPLUG_FOLDER_MODEL="$scratch/model-$UNPLUG_SEAT" \
    sh sh/verb.sh farm "$verb" "$@"
)

everywhere() {
  verb a server-1 "$1"
  verb a worker-1 "$1"
  verb b worker-2 "$1"
}

observe() (cd "$box/a" && sh sh/observe.sh "$1")

# What a test has mounted, it unmounts here.
release() { :; }

finish() {
  status=$?
  trap - EXIT
  everywhere stop >/dev/null 2>&1 || :
  observe stop >/dev/null 2>&1 || :
  release
  rm -rf "$box"
  exit "$status"
}
trap finish EXIT
trap 'exit 99' HUP INT TERM

failed() {
  echo "$test: $*" >&2
  for log in "$box"/?/logs/*.log; do grep -v '^frame' "$log" | tail -n 15 | sed "s|^|  ${log#"$box"/}: |" >&2; done
  (cd "$scratch" && find . -type f ! -path '*/done/*' | sort | sed 's/^/  scratch: /') >&2
  exit 1
}

wait_until() {
  tries=$(($1 * 20))
  shift
  until "$@"; do
    tries=$((tries - 1))
    [ "$tries" -gt 0 ] || return 1
    sleep 0.05
  done
}

worker_pid() { # NODE SEAT: the living worker
  for record in "$box/$1"/procs/*; do
    read -r part seat pid start _ <"$record"
    [ "$part $seat" = "worker $2" ] || continue
    [ "$(sed 's/.*) //' "/proc/$pid/stat" 2>/dev/null | cut -d ' ' -f 20)" != "$start" ] || echo "$pid"
  done
}
all_ready() { verb a worker-1 ready 2>/dev/null && verb b worker-2 ready 2>/dev/null; }
all_done() { # ID COUNT
  n=0
  for job in "$scratch/farm/done/$1"-*.job; do [ ! -e "$job" ] || n=$((n + 1)); done
  [ "$n" = "$2" ] && [ -z "$(ls -A "$scratch/farm/claimed")" ]
}
state() { verb a server-1 state; }
log_has() { grep -q -e "$2" "$box/$1"/logs/worker.*.log; }
# A frame of 8 or more that worker 2 has told since line MARK of its log.
at_frame_8() { tail -n +"$((mark + 1))" "$box/b/logs/worker.worker-2.log" | grep -q -E '^frame [^ ]+ ([89]|[1-3][0-9])$'; }
mark_log() { mark=$(grep -c '' "$box/b/logs/worker.worker-2.log" || :); }
said() { grep -q -e "$1" "$box"/?/logs/worker.*.log; }
is_in() { [ -e "$scratch/farm/$1/$2.job" ]; } # FOLDER ITEM
item_of_b() { sed -n 's/^claimed \([^ ]*\) .*/\1/p' "$box/b/logs/worker.worker-2.log" | tail -n 1; }
sums() { (cd "$scratch/farm/done" && for n in 1 2 3 4; do sha256sum <"$1-$n.mp4"; done); }
enqueue() { verb a server-1 enqueue --id "$1" --sweep "$2" --prompt "a lighthouse at night" >/dev/null; }
exists() { [ -e "$1" ]; }
not_there() { [ ! -e "$1" ]; }

# Everything up, and watched ten times a second.
bring_up() {
  everywhere deploy
  tab=$(printf '\t')
  printf 'files\tshare\t100\t%s\t%s\n' "$scratch/farm" \
    "queue/*.job${tab}claimed/*/*.job${tab}done/*.job${tab}failed/*.job${tab}cancelled/*.job" >"$box/a/observe.conf"
  observe start
  everywhere start
  wait_until 5 all_ready || failed "the workers are not ready"
}

# Nothing of it is left after `remove`.
take_down() {
  everywhere stop
  if [ -n "$(verb a server-1 remove 2>&1)$(verb a worker-1 remove 2>&1)$(verb b worker-2 remove 2>&1)" ]; then failed "remove"; fi
  [ -z "$(ls -A "$scratch")" ] || failed "remove left $(ls -A "$scratch")"
}

# spoil FILE: other bytes under the same name, size and time, swapped in by a rename. Half of all
# colours, so that there is no picture without one of them.
spoil() {
  # shellcheck disable=SC2016 # perl's
  perl -0777 -pe 'my $half = int(length($_) / 2); substr($_, $half) ^= "\xff" x (length($_) - $half)' <"$1" >"$1.new"
  touch -r "$1" "$1.new"
  mv "$1.new" "$1"
}

# Nothing but what is meant to stay.
no_leftovers() {
  [ -z "$(ls -A "$scratch/farm/claimed")" ] && [ -z "$(ls -A "$scratch/farm/queue")" ] &&
    [ -z "$(ls -A "$scratch/farm/failed")" ] && [ -z "$(find "$scratch"/work-* -type f)" ] &&
    [ -z "$(find "$scratch/farm/done" -type f ! -name '*.job' ! -name '*.mp4' ! -name '*.png')" ]
}

# Each item of ID in exactly one state, in every listing; a rename may be seen half-way once.
conserved() { # ID COUNT
  sed -n 's/^{"k":"files",.*"clean":true,"files":\(.*\)}$/\1/p' "$box/a/spool/observed" |
    awk -v id="$1" -v count="$2" '
      { bad = ""
        for (n = 1; n <= count; n++) {
          seen = gsub("/" id "-" n "[.]job\"", "&")
          if (seen) known[n] = 1
          if (known[n] && seen != 1) bad = bad id "-" n " is in " seen " states; "
        }
        if (bad != "" && last != "") { print bad; exit 1 }
        last = bad
      }
      END {
        for (n = 1; n <= count; n++) if (!known[n]) last = last id "-" n " was never seen; "
        if (last != "") { print last; exit 1 }
      }' >"$box/why" || failed "conservation: $(cat "$box/why")"
}
