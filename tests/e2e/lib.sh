#!/bin/sh
# What the end-to-end tests share: a scratch folder, runs of the program in the background whose end
# is waited for by pid, and complaints that show what was said.
# UNPLUG_E2E_CACHE=FOLDER: baselines are kept there, where other tests of the same workload find them.
# UNPLUG_KEEP=FOLDER: what a test leaves in its scratch folder is moved there, not removed.
# shellcheck disable=SC2034 # tests read what is set here
set -u

root=${UNPLUG_ROOT:-$(cd "$(dirname "$0")/../.." && pwd)}
UNPLUG_ROOT=$root
UNPLUG=${UNPLUG:-$root/build/unplug}
here=$root/tests/e2e
work=$(mktemp -d "${TMPDIR:-/tmp}/unplug-e2e.XXXXXX")
runs=$work/runs
XDG_CACHE_HOME=${UNPLUG_E2E_CACHE:-$work/cache}
export UNPLUG UNPLUG_ROOT XDG_CACHE_HOME
unset UNPLUG_LAB
# The interpreter itself: what stands in front of it on some machines takes five times as long.
python=$(python3 -c 'import sys; print(sys.executable)')
python3() { "$python" "$@"; }
mkdir -p "$runs" "$XDG_CACHE_HOME"
failed=0
started=      # NAME ... of all that was begun
lanes=3       # how many may run at the same time; a lab mostly waits
shown_once='' # files that a complaint has shown

# A lab ends with its outermost process, which is the one that we started.
finish() {
  status=$?
  trap - EXIT
  for one in $started; do
    if is_running "$one"; then kill -TERM "$(pid_of "$one")" 2>/dev/null; fi
  done
  wait
  if [ -n "${UNPLUG_KEEP-}" ]; then
    kept_name=$UNPLUG_KEEP/$(basename "$0" .test).$$
    mkdir -p "$UNPLUG_KEEP"
    rm -rf "$work/cache"
    mv "$work" "$kept_name" && echo "all that it left is kept in $kept_name"
  fi
  rm -rf "$work"
  exit "$status"
}
trap finish EXIT
trap 'exit 130' INT TERM HUP

say() { printf '%s\n' "$*"; }

# complain TEXT [FILE...]: notes it, shows the files, and goes on, so that one run tells all.
complain() {
  say "FAILED: $1"
  shift
  for shown; do
    case " $shown_once " in *" $shown "*) continue ;; esac
    shown_once="$shown_once $shown"
    say "--- ${shown#"$work"/}"
    sed 's/^/  | /' "$shown"
  done
  failed=$((failed + 1))
}

passed_all() {
  [ "$failed" -eq 0 ] || exit 1
  say "all passed"
}

need_lab() {
  status=0
  "$UNPLUG" lab two-node -- sh -c "[ -z \"\${UNPLUG_LAB_LACKS-}\" ] || { echo \"no \$UNPLUG_LAB_LACKS\"; exit 3; }" \
    >"$work/lab.out" 2>&1 || status=$?
  if [ "$status" -eq 3 ]; then
    say "SKIPPED: no lab with shared folders can be built here: $(cat "$work/lab.out")"
    exit 77
  fi
  [ "$status" -eq 0 ] || {
    complain "unplug lab ended with $status" "$work/lab.out"
    exit 1
  }
}

# begin NAME COMMAND...: in the background, when a lane is free. Its output is $work/NAME.out and
# .err, its status will be $work/NAME.rc.
begin() {
  begin_name=$1
  shift
  until [ "$(count_running)" -lt "$lanes" ]; do sleep 0.1; done
  (
    trap - EXIT INT TERM HUP
    cd "$work" || exit 99
    "$@" >"$begin_name.out" 2>"$begin_name.err" </dev/null &
    echo $! >"$begin_name.pid"
    begin_status=0
    wait $! || begin_status=$?
    echo "$begin_status" >"$begin_name.rc.new"
    mv "$begin_name.rc.new" "$begin_name.rc"
  ) &
  started="$started $begin_name"
  eventually 10 [ -s "$work/$begin_name.pid" ] || complain "$begin_name did not start"
}

is_running() { [ ! -e "$work/$1.rc" ]; }
count_running() {
  count=0
  for one in $started; do
    if is_running "$one"; then count=$((count + 1)); fi
  done
  echo "$count"
}
pid_of() { cat "$work/$1.pid"; }

# end NAME: waits for it; sets $status, $out and $err.
end() {
  out=$work/$1.out err=$work/$1.err status=0
  while is_running "$1"; do sleep 0.1; done
  read -r status <"$work/$1.rc"
}

# ends NAME STATUS
ends() {
  end "$1"
  [ "$status" -eq "$2" ] || complain "$1: ended with $status, not $2" "$out" "$err"
}

# does NAME STATUS COMMAND...: at once.
does() {
  does_name=$1 does_status=$2
  shift 2
  begin "$does_name" "$@"
  ends "$does_name" "$does_status"
}

# has FILE ERE...: each expression matches a line of it.
has() {
  has_file=$1
  shift
  for ere; do
    grep -Eq -e "$ere" "$has_file" || complain "${has_file#"$work"/} does not say: $ere" "$has_file"
  done
}
has_not() {
  has_file=$1
  shift
  for ere; do
    if grep -Eq -e "$ere" "$has_file"; then complain "${has_file#"$work"/} says: $ere" "$has_file"; fi
  done
}

# folder_of NAME: the folder of a run, from its output.
folder_of() { sed -n 's/^left in //p' "$work/$1.out" | tail -n 1; }

# variant INJECTOR NAME: a copy of it in $work/NAME, for --injectors; stdin is added to its script.
variant() {
  mkdir -p "$work/$2"
  cp -RL "$root/injectors/$1" "$work/$2/$1"
  cat >>"$work/$2/$1/linux.sh"
  rm -f "$work/$2/$1/darwin.sh"
  cp "$work/$2/$1/linux.sh" "$work/$2/$1/darwin.sh"
}

# eventually SECONDS COMMAND...: a condition with a deadline.
eventually() {
  eventually_left=$(($1 * 10))
  shift
  until "$@"; do
    eventually_left=$((eventually_left - 1))
    [ "$eventually_left" -gt 0 ] || return 1
    sleep 0.1
  done
}
said() { grep -Eq -e "$2" "$1" 2>/dev/null; } # FILE ERE

# bundle NAME WHAT ARG...: asks bundle.py about the folder that a run left.
bundle() {
  bundle_name=$1 bundle_what=$2
  shift 2
  python3 "$here/bundle.py" "$bundle_what" "$(folder_of "$bundle_name")" "$@" >"$work/bundle.out" 2>&1 ||
    complain "$bundle_name: bundle.py $bundle_what $*" "$work/bundle.out" "$work/$bundle_name.out"
}
