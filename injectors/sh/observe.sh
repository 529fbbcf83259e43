#!/bin/sh
# Watches a node on behalf of a run: logs, folders, processes. docs/node-protocol.md, "Observing".
#
#   sh sh/observe.sh start | follow OFFSET | stop | files NAME=FOLDER... | works FOLDER|PID:START... | system
#
# The work is done by observe.pl: tailing several logs, sampling processes without a fork and
# stamping with a clock of nanoseconds is what sh cannot do. This file only finds a perl for it.
set -eu

here=$(dirname "$0")

# perl-base is enough, and is what a minimal Debian and every Mac have.
if ! command -v perl >/dev/null; then
  echo "no perl on this node; install it (Debian: perl-base)" >&2
  exit 3
fi
exec perl "$here/observe.pl" "$@"
