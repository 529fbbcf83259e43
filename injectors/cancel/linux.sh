#!/bin/sh
# cancel: the user's own cancellation, by the target's verb. Nothing to undo.
#
# The verb is called as the controller would call it: with the VARS of the seat, which verb.sh has
# noted. The proof is another verb of the target, which reads what is recorded and not what was done.
# shellcheck disable=SC2154 # the prelude sets what it answers, arm what it kept

probe() {
  case ${UNPLUG_NODE_SEAT-} in
  '') cannot "cancel: name a seat of the target (\"server 1\"), not a node: the verb is a seat's" ;;
  esac
  need_tools sed
  facts verb "$UNPLUG_VERB" shows "$UNPLUG_SHOWS" seat "$UNPLUG_NODE_SEAT"
}

# The target is deployed by now, and so its seats are noted.
arm() {
  probe >/dev/null
  [ -r ".seats/$UNPLUG_NODE_SEAT" ] || cannot "the target has no seat $UNPLUG_NODE_SEAT on this node"
  cancel_target=$(sed -n "s/^seat_target='\(.*\)'\$/\1/p" ".seats/$UNPLUG_NODE_SEAT")
  for cancel_verb in "$UNPLUG_VERB" "$UNPLUG_SHOWS"; do
    grep -q "\"$cancel_verb\"[[:space:]]*:" "targets/$cancel_target/target.json" ||
      cannot "the target $cancel_target has no verb \"$cancel_verb\""
  done
  keep seat "$UNPLUG_NODE_SEAT"
  keep target "$cancel_target"
}

# of_target VERB: with the seat's VARS and the fault's arguments. A shell of its own: whatever a
# target does, it does not do it to the guard.
of_target() {
  # shellcheck disable=SC2016,SC2086 # for the other shell; split on purpose
  sh -c 'set -a; . "$1"; set +a; shift; exec sh sh/verb.sh "$seat_target" "$@"' sh \
    ".seats/$kept_seat" "$1" $UNPLUG_ARGS </dev/null
}

fire() { of_target "$UNPLUG_VERB"; }

verify() {
  cancel_says=0
  cancel_told=$(of_target "$UNPLUG_SHOWS") || cancel_says=$?
  case $cancel_says in
  0) facts "$UNPLUG_SHOWS" true args "$UNPLUG_ARGS" told "$cancel_told" ;;
  1)
    facts "$UNPLUG_SHOWS" false args "$UNPLUG_ARGS" told "$cancel_told"
    not_so "the target knows of no cancellation of $UNPLUG_ARGS"
    ;;
  *) cannot "the target's verb $UNPLUG_SHOWS ended with $cancel_says" ;;
  esac
}

# There is no way back; that nothing is left to undo is always so.
verify_reverted() { facts lasting true; }
