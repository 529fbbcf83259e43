#!/bin/sh
# model_mismatch: the path that the target reads leads to a wrong file; the right one is never written.
#
#   copy ──flip──> .unplug.RUN.FAULT.wrong ──rename──> PATH
#   PATH ──hard link──> .unplug.RUN.FAULT.original       (the very inode, or the very symbolic link)
#
# A symbolic link is replaced, not what it leads to: a blob of a cache belongs to others too. So are
# hard links: the inode that they share goes aside and comes back, untouched.
# shellcheck disable=SC2154 # the prelude sets what it answers, arm what it kept

# ---- what is meant

# Sets $model_file, and $model_right: the hash that its manifest has.
find_model() {
  [ -r "$UNPLUG_MODEL_MANIFEST" ] || cannot "the target brings no $UNPLUG_MODEL_MANIFEST"
  model_file=$UNPLUG_MODEL model_name=${UNPLUG_MODEL##*/} model_right='' model_lines=0
  while read -r model_hash model_listed || [ -n "${model_hash-}" ]; do
    model_listed=${model_listed#\*}
    model_lines=$((model_lines + 1))
    if [ -d "$UNPLUG_MODEL" ] && [ "$model_lines" -eq 1 ]; then
      model_file=$UNPLUG_MODEL/$model_listed model_name=$model_listed
    fi
    if [ "$model_listed" = "$model_name" ] || [ "${model_listed##*/}" = "$model_name" ]; then
      model_right=${model_right:-$model_hash}
    fi
    model_only=$model_hash
  done <"$UNPLUG_MODEL_MANIFEST"
  # A list of one file is about that file, whatever it is called there.
  if [ "$model_lines" -eq 1 ]; then model_right=$model_only; fi
  case $model_right in
  *[!0-9a-f]* | '') cannot "$UNPLUG_MODEL_MANIFEST has no SHA-256 of $model_name" ;;
  esac
}

# hash_of PATH: sets $model_hash; empty when it cannot be read.
hash_of() {
  model_hash=$(sha256sum <"$1" 2>/dev/null) || :
  model_hash=${model_hash%% *}
}

# Of a link, not of what it leads to; empty when nothing is there. An inode's number is given away
# again when its file is gone, so its times belong to it.
identity_of() { stat -c %d:%i:%w:%y "$1" 2>/dev/null | tr ' ' _; }

# Extended attributes cannot differ while it is the same inode and nobody wrote to it.
attributes_of() { stat -L -c '%a %u:%g %s %y %h' "$1" 2>/dev/null || :; }

# SAFETY: other nodes must not read the same file; and the copy must not fill the disk.
# Test: model_mismatch.test.
check_model() {
  [ -f "$model_file" ] || cannot "no file $model_file on this node"
  model_folder=${model_file%/*}
  [ -w "$model_folder" ] || lacks "cannot write to $model_folder"
  case $(stat -f -c %T "$model_folder") in
  nfs* | fuse* | smb* | cifs* | afs | ceph | lustre | gfs* | 9p | v9fs | panfs | gpfs)
    cannot "$model_folder may be on a shared file system: other nodes would read the wrong file too"
    ;;
  esac
  # shellcheck disable=SC2046 # split on purpose
  set -- $(stat -L -c %s "$model_file") $(stat -f -c '%S %a' "$model_folder")
  [ "$1" -ge $((2 * UNPLUG_FLIPS)) ] || cannot "$model_file has $1 bytes, too few to flip $UNPLUG_FLIPS of them"
  [ $(($2 * $3)) -gt $(($1 + 1048576)) ] ||
    cannot "no room for a copy of $model_file: $1 bytes, and $(($2 * $3)) are free"
}

check_kind() {
  [ "$UNPLUG_KIND" = flipped ] || cannot "model_mismatch: there is no kind '$UNPLUG_KIND' (flipped)"
  case $UNPLUG_FLIPS in
  '' | 0* | *[!0-9]* | ?????*) cannot "model_mismatch: flips is 1 to 9999, not '$UNPLUG_FLIPS'" ;;
  esac
}

# ---- the verbs

# The target may bring the file itself, later: then arm looks.
probe() {
  check_kind
  need_tools cp ln mv stat sha256sum perl
  if [ ! -e "$UNPLUG_MODEL" ] || [ ! -e "$UNPLUG_MODEL_MANIFEST" ]; then
    facts model "$UNPLUG_MODEL" there false
    return
  fi
  find_model
  check_model
  facts model "$UNPLUG_MODEL" there true
}

arm() {
  check_kind
  find_model
  check_model
  hash_of "$model_file"
  [ "$model_hash" = "$model_right" ] ||
    cannot "$model_file is not what its manifest says already: $model_hash, not $model_right"
  keep file "$model_file"
  keep sha256 "$model_right"
  keep identity "$(identity_of "$model_file")"
  keep attributes "$(attributes_of "$model_file")"
  model_ours=$model_folder/.unplug.${run_folder##*/}.$UNPLUG_FAULT
  for model_one in original wrong; do
    [ "$(identity_of "$model_ours.$model_one")" = "" ] || cannot "$model_ours.$model_one exists already"
    keep "$model_one" "$model_ours.$model_one"
  done
}

# SAFETY: our file's inode is noted before it takes the name, so that undo can tell it from one that
# the target has put there meanwhile. Test: model_mismatch.test (replaced meanwhile).
fire() {
  cp -L --preserve=all --reflink=auto -- "$kept_file" "$kept_wrong" || return 1
  chmod u+w "$kept_wrong" || return 1
  flip "$kept_wrong" || return 1
  chmod --reference="$kept_file" "$kept_wrong" && touch -r "$kept_file" "$kept_wrong" || return 1
  remember "$(identity_of "$kept_wrong")" || return 1
  # With a second name for the original, the path is never without a file; where there can be none
  # (a file system without hard links, a file of somebody else) it is for an instant.
  ln -P -- "$kept_file" "$kept_original" 2>/dev/null || mv -T -- "$kept_file" "$kept_original" || return 1
  mv -T -- "$kept_wrong" "$kept_file"
}

# Where numbers are, not names: behind the header of a .safetensors, in the second half of others.
# The places follow from size and count alone, so that every run breaks the same bytes.
flip() {
  perl -e '
    my ($path, $flips) = @ARGV;
    open(my $file, "+<:raw", $path) or die "cannot open $path: $!\n";
    my $size = -s $file;
    my $begin = int($size / 2);
    if ($ARGV[2] =~ /\.safetensors$/) {
      read($file, my $head, 8) == 8 or die "$path is too short\n";
      my $after = 8 + unpack("Q<", $head);
      $begin = $after if $after < $size;
    }
    my $length = $size - $begin;
    die "$path has $length bytes of data, too few for $flips\n" if $length < $flips;
    for my $i (0 .. $flips - 1) {
      my $at = $begin + int((2 * $i + 1) * $length / (2 * $flips));
      seek($file, $at, 0) && read($file, my $byte, 1) == 1 or die "cannot read $path: $!\n";
      seek($file, $at, 0) && print {$file} $byte ^ "\xff" or die "cannot write $path: $!\n";
    }
    close($file) or die "cannot write $path: $!\n"' "$1" "$UNPLUG_FLIPS" "$kept_file" >&2
}

# By the hash of what the path leads to now, which fire has never made.
verify() {
  find_model
  hash_of "$model_file"
  facts path "$model_file" sha256 "$model_hash" manifest "$model_right"
  [ -n "$model_hash" ] || not_so "$model_file cannot be read" || return 1
  if [ "$UNPLUG_ROLE" = witness ]; then
    [ "$model_hash" = "$model_right" ] || not_so "here too $model_file is not what its manifest says"
  else
    [ "$model_hash" != "$model_right" ] || not_so "$model_file is what its manifest says"
  fi
}

# Renames only: undo needs no room on the disk.
revert() {
  model_wrong=none
  each_remembered note_wrong
  model_now=$(identity_of "$kept_file")
  model_there=$(identity_of "$kept_original")
  rm -f -- "$kept_wrong"
  if [ -z "$model_there" ]; then
    # Nothing was put aside, or it is back.
    [ "$model_now" != "$model_wrong" ] ||
      not_so "$kept_file is ours, and $kept_original is gone: it must come from a copy"
  elif [ "$model_now" = "$model_there" ]; then
    rm -f -- "$kept_original" # renaming one name of an inode to another does nothing
  elif [ "$model_now" = "$model_wrong" ]; then
    mv -T -- "$kept_original" "$kept_file"
  elif [ -z "$model_now" ]; then
    mv -n -T -- "$kept_original" "$kept_file"
  else
    replaced_meanwhile
  fi
}
note_wrong() { model_wrong=$1; }

# The target has put a file of its own there. With the right content it has mended itself; with
# another one nobody but a person can say which of the two is wanted.
replaced_meanwhile() {
  hash_of "$kept_file"
  if [ "$model_hash" = "$kept_sha256" ]; then
    rm -f -- "$kept_original"
    return
  fi
  not_so "$kept_file was replaced meanwhile, not by us; the original is $kept_original; by hand: mv one over the other"
}

verify_reverted() {
  if [ "$UNPLUG_ROLE" = witness ]; then
    verify
    return
  fi
  hash_of "$kept_file"
  model_same=true
  [ "$(identity_of "$kept_file")" = "$kept_identity" ] || model_same=false
  facts path "$kept_file" sha256 "$model_hash" before "$kept_sha256" same_file "$model_same"
  for model_one in "$kept_original" "$kept_wrong"; do
    [ "$(identity_of "$model_one")" = "" ] || not_so "$model_one is still there: $kept_file was replaced meanwhile, or undo is not done" || return 1
  done
  [ "$model_hash" = "$kept_sha256" ] || [ ! -d "${kept_file%/*}" ] ||
    not_so "$kept_file is not what it was: ${model_hash:-it cannot be read}" || return 1
  [ "$model_same" = false ] || [ "$(attributes_of "$kept_file")" = "$kept_attributes" ] ||
    not_so "mode, owner, size, time or the number of links of $kept_file are not what they were"
}
