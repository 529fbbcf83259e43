#!/usr/bin/env python3
"""The state of a node, as a test compares it before and after a fault.

    node_snapshot.py [--folder DIR]... >before.json
    node_snapshot.py --compare before.json after.json       1 and the differences by name

It shares no code with the product: what the product forgot to put back must be seen here. What moves
by itself is left out: counters, handles, ages, lifetimes that run down (only whether one is
bounded is kept), neighbours that were learnt.
"""
import argparse
import hashlib
import json
import os
import stat
import subprocess
import sys

# Counters, ages and kernel-given handles, wherever they stand.
MOVING = {
    "bytes", "packets", "drops", "overlimits", "requeues", "backlog", "qlen", "stats", "stats64", "stats2",
    "refcnt", "handle_of_rule", "used", "lastused", "ifindex", "link_index", "cacheinfo", "age",
}  # fmt: skip
LIFETIMES = {"valid_life_time", "preferred_life_time", "expires"}
FOREVER = 4294967295


def run(*command):
    """The JSON that a tool prints; a tool that is missing or fails is part of the state, by name."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10)
    except FileNotFoundError:
        return f"{command[0]} is not installed"
    if done.returncode != 0:
        return f"{' '.join(command)}: {done.stderr.strip()}"
    return json.loads(done.stdout) if done.stdout.strip() else []


def still(value):
    """Without what moves by itself."""
    if isinstance(value, dict):
        return {
            key: (part == FOREVER if key in LIFETIMES else still(part))
            for key, part in value.items()
            if key not in MOVING
        }
    return [still(part) for part in value] if isinstance(value, list) else value


def named(items, name):
    """A list as a map, so that a difference has a name; doubles get a number."""
    if not isinstance(items, list):
        return items
    named_items = {}
    for item in items:
        key = wanted = name(item)
        number = 2
        while key in named_items:
            key, number = f"{wanted} #{number}", number + 1
        named_items[key] = item
    return named_items


def links():
    return named(still(run("ip", "-j", "-d", "link", "show")), lambda link: link["ifname"])


def addresses():
    shown = still(run("ip", "-j", "-d", "addr", "show"))
    if not isinstance(shown, list):
        return shown
    found = {}
    for link in shown:
        # "tentative" is kept: an address that cannot be used yet is not back yet.
        for address in link.get("addr_info", []):
            found[f"{link['ifname']} {address.get('local')}/{address.get('prefixlen')}"] = address
    return found


def routes(family):
    shown = still(run("ip", "-j", "-d", family, "route", "show", "table", "all"))
    return named(shown, lambda route: " ".join(
        str(route.get(key, "-")) for key in ("table", "type", "dst", "gateway", "dev", "metric")))  # fmt: skip


def rules():
    both = [run("ip", "-j", family, "rule", "show") for family in ("-4", "-6")]
    return {"inet": both[0], "inet6": both[1]}


def neighbours():
    kept = run("ip", "-j", "neigh", "show", "nud", "permanent")
    proxies = run("ip", "-j", "neigh", "show", "proxy")
    name = lambda entry: f"{entry.get('dev')} {entry.get('dst')}"  # noqa: E731
    return {"permanent": named(still(kept), name), "proxy": named(still(proxies), name)}


def queues():
    """Handles that the kernel gave are dropped, those that a person gave (below 8000:) are kept."""
    shown = still(run("tc", "-j", "-d", "qdisc", "show"))
    if isinstance(shown, list):
        for queue in shown:
            if int(queue.get("handle", "0:").rstrip(":") or "0", 16) >= 0x8000:
                del queue["handle"]
    return named(shown, lambda queue: f"{queue.get('dev')} {queue.get('kind')} {queue.get('parent', 'root')}")


def firewall():
    shown = run("nft", "-j", "list", "ruleset")
    if not isinstance(shown, dict):
        return shown
    return [still(entry) for entry in shown["nftables"] if "metainfo" not in entry]


def settings():
    """The kernel's settings of every interface, those of all and default too."""
    found = {}
    for family in ("ipv4", "ipv6"):
        for group in ("conf", "neigh"):
            top = f"/proc/sys/net/{family}/{group}"
            for folder, _, names in os.walk(top):
                for name in names:
                    try:
                        with open(os.path.join(folder, name), encoding="utf-8") as file:
                            found[os.path.join(folder, name)[len("/proc/sys/net/"):]] = file.read().strip()
                    except OSError:
                        continue  # write-only, or a secret that was never set
    return found


def mounts():
    with open("/proc/self/mounts", encoding="utf-8") as file:
        return sorted(" ".join(line.split()[:4]) for line in file)


def stopped():
    """Processes in state T, by pid, start time and name."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
                head, tail = file.read().rsplit(")", 1)
        except OSError:
            continue  # it has ended
        fields = tail.split()
        if fields[0] == "T":
            found.append(f"{pid} {fields[19]} {head.split('(', 1)[1]}")
    return sorted(found)


def one_file(path):
    info = os.lstat(path)
    entry = {
        "mode": stat.filemode(info.st_mode), "owner": f"{info.st_uid}:{info.st_gid}", "links": info.st_nlink,
        "mtime": info.st_mtime_ns,
        "xattrs": {name: os.getxattr(path, name, follow_symlinks=False).hex()
                   for name in os.listxattr(path, follow_symlinks=False)},
    }  # fmt: skip
    if stat.S_ISLNK(info.st_mode):
        entry["to"] = os.readlink(path)
    if stat.S_ISREG(info.st_mode):
        with open(path, "rb") as file:
            entry["sha256"] = hashlib.sha256(file.read()).hexdigest()
    return entry


def files(top):
    found = {".": one_file(top)}
    for folder, folders, names in os.walk(top):
        for name in folders + names:
            path = os.path.join(folder, name)
            found[os.path.relpath(path, top)] = one_file(path)
    return found


def free(top):
    """Blocks and inodes that are taken, of the file system that the folder is on."""
    disk = os.statvfs(top)
    return {"blocks": disk.f_blocks - disk.f_bfree, "inodes": disk.f_files - disk.f_ffree}


def snapshot(folders):
    return {
        "links": links(), "addresses": addresses(), "neighbours": neighbours(),
        "routes": {"inet": routes("-4"), "inet6": routes("-6")}, "rules": rules(), "queues": queues(),
        "firewall": firewall(), "settings": settings(), "mounts": mounts(), "stopped": stopped(),
        "files": {top: files(top) for top in folders}, "disk": {top: free(top) for top in folders},
    }  # fmt: skip


def differences(before, after, name=""):
    if isinstance(before, dict) and isinstance(after, dict):
        for key in sorted(before.keys() | after.keys()):
            inner = f"{name}: {key}" if name else key
            if key not in before:
                yield f"new      {inner}: {json.dumps(after[key])}"
            elif key not in after:
                yield f"missing  {inner}: {json.dumps(before[key])}"
            else:
                yield from differences(before[key], after[key], inner)
    elif before != after:
        yield f"differs  {name}: {json.dumps(before)} -> {json.dumps(after)}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--folder", action="append", default=[])
    parser.add_argument("--compare", nargs=2, metavar=("BEFORE", "AFTER"))
    asked = parser.parse_args()
    if not asked.compare:
        json.dump(snapshot(asked.folder), sys.stdout, indent=1, sort_keys=True)
        return 0
    both = []
    for path in asked.compare:
        with open(path, encoding="utf-8") as file:
            both.append(json.load(file))
    found = list(differences(*both))
    print("\n".join(found) if found else "no difference")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
