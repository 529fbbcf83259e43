#!/bin/sh
# link_drop: takes the near end's interface down; undo brings back the interface and all it had.
#
# fire and undo speak to the kernel by `ip`; proofs read /sys and ask the other end, over this
# interface alone.
# shellcheck disable=SC2154 # the prelude and interface.sh set what they answer

probe() {
  link_ends
  need_root
  need_tools ip tc ping awk sed grep
  need_whole_link "$dev" "$peer"
  facts interface "$dev" peer "$peer" carrier "$carrier"
}

arm() {
  link_ends
  need_whole_link "$dev" "$peer"
  keep_interface "$dev"
}

fire() { ip link set dev "$UNPLUG_LINK_INTERFACE" down; }

verify() {
  link_ends
  carrier_of "$dev"
  answers "$dev" "$peer" || :
  if admin_up "$dev"; then up=true; else up=false; fi
  facts role "$UNPLUG_ROLE" interface "$dev" up "$up" carrier "$carrier" answered "$answered"
  case $UNPLUG_ROLE in
  near) [ "$up" = false ] || not_so "$dev is up" || return 1 ;;
  # An interface that is down at this end as well has no carrier to read: that would not be our doing.
  far) [ "$carrier" = 0 ] || not_so "$dev: carrier is $carrier, not 0" || return 1 ;;
  esac
  [ "$answered" = no ] || not_so "$peer answers over $dev"
}

revert() {
  link_ends
  same_boot || return 0
  restore_interface "$dev"
}

verify_reverted() {
  link_ends
  verify_link_whole "$dev" "$peer"
}
