"""Faults on a living lab, and what they leave of it: untouched.py FOLDER WORD... (the lab's command).

A word is an injector: one run of a scenario with it, to its end. With :killed behind it the controller
is killed with -9, its whole process group, while the fault is in effect: then the guard undoes the
fault when its lease ends, and `heal` takes away what is left of the run.

Before the first, things of somebody else are planted on both nodes. After each, both nodes are compared
with what they were then, by node_snapshot.py, and what differs is named.
"""

import glob
import json
import os
import signal
import subprocess
import sys
import time

from node_snapshot import differences

HERE = os.path.dirname(os.path.abspath(__file__))
UNPLUG = os.environ["UNPLUG"]
NODES = ("node1", "node2")
FOREIGN = "/scratch/foreign"
RUN_ENDS_WITHIN = 90
LEASE_ENDS_WITHIN = 40
HEAL_TAKES = 60

LINK = {"link": {"between": ["server 1", "worker 2"]}, "near": "worker 2"}
FAULTS = {
    "process_kill": {"process": "worker 2"},
    "process_freeze": {"process": "worker 2", "for": "1s"},
    "link_drop": {**LINK, "for": "1s"},
    "link_flap": {**LINK, "down": "200ms", "up": "300ms", "for": "1s"},
    "link_block": {**LINK, "for": "1s"},
    "link_degrade": {**LINK, "loss": 30, "for": "1s"},
    "address_loss": {**LINK, "for": "1s"},
    "node_sleep": {"node": "worker 2", "witness": "server 1", "for": "2s"},
    "disk_fill": {"node": "worker 2", "free": "0B", "for": "1s"},
    "model_mismatch": {"node": "worker 2", "witness": "worker 1", "model": "look", "before": "start", "for": "2s"},
    "cancel": {"node": "server 1", "args": "--id shot-2"},
    "cancel_signal": {"process": "worker 2", "signal": "TERM"},
}
# Long enough that the kill comes first, and the lease ends first; who sleeps has all of it as his lease.
HELD = {"node_sleep": "10s"}
HELD_ELSE = "60s"


class Left(Exception):
    """What was found: the test fails with it."""


def on(node, *words, script=None):
    with open(os.path.join(HERE, script) if script else os.devnull, "rb") as stdin:
        return subprocess.run(["ssh", node, *words], stdin=stdin, capture_output=True, text=True, timeout=60, check=True).stdout


# ---- the nodes


def plant(node, link):
    """Things of somebody else, in every corner that a fault works in. link: this end's number."""
    on(node, f"""set -e
      nft add table inet foreign
      nft add chain inet foreign in '{{ type filter hook input priority 0; }}'
      nft add rule inet foreign in ip saddr 192.0.2.1 counter drop
      ip addr add 10.81.0.{link}/24 dev tb0
      ip addr add 10.81.0.{link}9/24 dev tb0
      ip addr add fd81::{link}/64 dev tb0
      ip route add 10.90.0.0/16 via 10.78.0.{3 - link} dev tb0 metric 77 mtu lock 1400
      ip route add 10.91.0.0/16 dev tb0 table 55
      ip -6 route add fd90::/64 dev tb0 metric 9
      ip rule add from 10.81.0.0/24 table 55
      ip neigh add 10.81.0.200 lladdr 02:00:00:00:00:09 dev tb0 nud permanent
      tc qdisc add dev tb0 root handle 7: tbf rate 200mbit burst 100k latency 50ms
      mkdir {FOREIGN} {FOREIGN}/below
      echo mine >{FOREIGN}/below/file
      chmod 640 {FOREIGN}/below/file
      ln -s nowhere {FOREIGN}/link
      mkdir -p /run/foreign
      mount -t tmpfs -o size=64k foreign /run/foreign
      perl -e 'kill STOP => $$; sleep 600' >/dev/null 2>&1 </dev/null &""")
    eventually(10, lambda: not on(node, "ip -6 -o addr show tentative"), f"{node}: IPv6 addresses stay tentative")


def eventually(seconds, yes, complaint):
    until = time.monotonic() + seconds
    while not yes():
        if time.monotonic() > until:
            raise Left(complaint)
        time.sleep(0.1)


def remove_what_the_farm_keeps():
    """Its queue and its model stay by intent; whose they are is not asked here."""
    for node in NODES:
        on(node, f"find /scratch -mindepth 1 -maxdepth 1 ! -path {FOREIGN} -exec rm -rf {{}} +")


def state():
    """Of both nodes: the snapshot, and the processes by pid and start time."""
    found = {}
    for node in NODES:
        found[node] = json.loads(on(node, f"python3 - --folder {FOREIGN}", script="node_snapshot.py"))
        processes = json.loads(on(node, "python3 - look", script="undo_witness.py"))
        found[node]["processes"] = {f"{pid} {start} {words}": "there" for pid, start, _, words in processes["processes"]}
        found[node]["unplug"] = processes["unplug"]
    return found


def expect_same(before, when, ignored=lambda line: False):
    left = [line for line in differences(before, state()) if not ignored(line)]
    if left:
        raise Left("\n    ".join([f"{when}: {len(left)} differences", *left[:20]]))


# ---- a run


def scenario(folder, injector, held):
    fault = {"id": "fault", "inject": injector, **FAULTS[injector]}
    if "before" not in fault:
        fault["at"] = "500ms"
    if held and "for" in fault:
        fault["for"] = HELD.get(injector, HELD_ELSE)
    path = f"{folder}/{injector}.json"
    with open(path, "w", encoding="utf-8") as file:
        json.dump({
            "scenario": f"untouched-{injector}", "asks": "What is left of a fault on its nodes?",
            "target": "farm", "place": {"server": [1], "worker": [1, 2]}, "params": {"claim_lease": "2s"},
            "workload": {"verb": "enqueue", "args": ["--id", "shot", "--sweep", "2", "--prompt", "a lighthouse at night"]},
            "faults": [fault], "expect": [{"check": "conservation"}],
            "limits": {"run": "60s", "settle": "15s"}, "seed": 1,
        }, file)  # fmt: skip
    return path


def start(folder, injector, held):
    out = open(f"{folder}/{injector}.out", "ab")
    return subprocess.Popen(
        [UNPLUG, "run", scenario(folder, injector, held), "--lab", os.environ["UNPLUG_LAB"], "--out", f"{folder}/runs"],
        stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True,
    )  # fmt: skip


def said(folder, injector):
    with open(f"{folder}/{injector}.out", encoding="utf-8") as file:
        return file.read()


def run_to_its_end(folder, injector, before):
    run = start(folder, injector, held=False)
    status = run.wait(timeout=RUN_ENDS_WITHIN)
    words = said(folder, injector)
    if status != 0 or "under 1 confirmed fault" not in words:
        raise Left(f"the run ended with {status}, or its fault was not confirmed:\n{words}")
    remove_what_the_farm_keeps()
    expect_same(before, "after the run")


# ---- a controller that is killed


def in_effect(folder):
    for journal in glob.glob(f"{folder}/runs/*/journal.jsonl"):
        with open(journal, encoding="utf-8") as file:
            for line in file.read().split("\n")[:-1]:
                event = json.loads(line)
                if event["kind"] == "fault" and event["data"]["state"] in ("in_effect", "provisional"):
                    return True
    return False


def of_the_farm(line):
    """The dead controller's target lives on until heal: its processes, its share, what it renders."""
    kind = line.split(": ")
    return kind[1] in ("processes", "unplug", "disk") or (kind[1] == "mounts" and "fuse.sshfs" in line)


def run_and_kill(folder, injector, before):
    subprocess.run(["rm", "-rf", f"{folder}/runs"], check=True)
    run = start(folder, injector, held=True)
    try:
        eventually(60, lambda: in_effect(folder) or run.poll() is not None, "the fault does not come into effect")
        if run.poll() is not None:
            raise Left(f"the run ended before it could be killed:\n{said(folder, injector)}")
    finally:
        try:
            os.killpg(run.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        run.wait()
    # Whoever asks a node that sleeps waits for it: so the state is asked for when the guard has ended.
    eventually(LEASE_ENDS_WITHIN, guards_are_over, "a fault is not undone by the end of its lease")
    expect_same(before, "after the lease", ignored=of_the_farm)
    heal(folder)
    remove_what_the_farm_keeps()
    expect_same(before, "after heal")


def guards_are_over():
    """The fault's folder has the note of an undo, and its guard says that the lease's end was why."""
    logs = ""
    for node in NODES:
        try:
            logs += on(node, "for f in .unplug/*/fault; do if [ -e $f/undone ]; then cat $f/guard.log; fi; done")
        except subprocess.SubprocessError:
            return False  # asleep, or not back yet
    if '"guard":"reverted"' in logs and '"why":"lease"' not in logs:
        raise Left(f"undone, and not by its lease:\n{logs}")
    return '"guard":"reverted"' in logs


# ---- heal


def heal(folder):
    done = subprocess.run(
        [UNPLUG, "heal", "--lab", os.environ["UNPLUG_LAB"], "--out", f"{folder}/healed"],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=HEAL_TAKES, check=False,
    )  # fmt: skip
    if done.returncode != 0:
        raise Left(f"heal ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


def expect_nothing_to_heal(folder):
    words = heal(folder)
    if words.strip() != "nothing to heal":
        raise Left(f"heal finds something:\n{words}")


def main():
    folder, *words = sys.argv[1:]
    remove_what_the_farm_keeps()
    for number, node in enumerate(NODES, start=1):
        plant(node, number)
    before = state()
    bad = 0
    for word in words:
        injector, _, killed = word.partition(":")
        began = time.monotonic()
        try:
            (run_and_kill if killed else run_to_its_end)(folder, injector, before)
            expect_nothing_to_heal(folder)
            print(f"{word}: untouched, {time.monotonic() - began:.1f} s", flush=True)
        except Left as left:
            bad += 1
            print(f"FAILED: {word}: {left}", flush=True)
            break  # what comes next would begin with what this one left
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
