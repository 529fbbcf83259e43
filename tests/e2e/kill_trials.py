"""Kills the controller of a run, in a lab: kill_trials.py FOLDER SEED TRIAL... (the lab's command).

A trial is TRIGGER:STATE, the trigger `at` (a time) or `when` (an event, matched on the node):
start `unplug run` as a process group of its own, wait until its journal says that the fault is in
STATE, kill -9 the group, let the witness watch (undo_witness.py, over its own ssh), then have
`unplug report` and `unplug heal` do their work and look at the nodes. A trial counts for the state
that the broken-off journal ends in, which may be a later one: then it is tried again. With :now
behind it, heal is called at once: it must wait for the dead controller's lock to end.

One JSON line per trial goes to FOLDER/trials.jsonl. `hold` is the last: it brings a fault into
effect and says so by the file FOLDER/in_effect, for somebody who then kills the whole lab.
"""

import glob
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time

import undo_witness
from undo_witness import node_time

HERE = os.path.dirname(os.path.abspath(__file__))
UNPLUG = os.environ["UNPLUG"]
LAB = os.environ["UNPLUG_LAB"]
NODES = ("node1", "node2")
VICTIM = "node2"
# The longest that we wait after the state was seen, so that kills fall anywhere in it.
SPREAD = {"journaled": 0.12, "armed": 0.6, "fired": 0.08, "in_effect": 1.5, "reverting": 1.0}
OVER = ("reverted", "disarmed", "not_triggered")
RUN_REACHES_IT = 60
HEAL_TAKES = 60
TRIES = 4


def on(node, verb):
    with open(os.path.join(HERE, "undo_witness.py"), "rb") as script:
        return subprocess.Popen(
            ["ssh", node, "python3", "-", verb], stdin=script, stdout=subprocess.PIPE, text=True
        )


def look():
    """Of each node, at the same time."""
    looking = {node: on(node, "look") for node in NODES}
    return {node: json.loads(one.communicate(timeout=30)[0]) for node, one in looking.items()}


def remove_what_the_farm_made():
    words = "rm -rf /scratch/*"
    removing = [subprocess.Popen(["ssh", node, words]) for node in NODES]
    if any([one.wait(timeout=30) for one in removing]):
        raise RuntimeError(f"{words} failed")


class Witness:
    def __init__(self):
        self.lines, self.process = [], on(VICTIM, "watch")
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        for line in self.process.stdout:
            self.lines.append(json.loads(line))

    def since(self, moment):
        return [line for line in list(self.lines) if line["at"] >= moment]


# ---- the journal, as a file that grows


def last_state(journal):
    """The fault's last state in what is there, and its lease; half a line at the end is ignored."""
    state, lease = None, None
    with open(journal, encoding="utf-8") as file:
        for line in file.read().split("\n")[:-1]:
            event = json.loads(line)
            data = event["data"]
            if event["kind"] == "fault" and data["state"] in [*SPREAD, *OVER]:
                state = data["state"]
                lease = data.get("lease_ns", lease)
            elif event["kind"] == "run_closed":
                state = "closed"
    return state, lease and lease / 1e9


def wait_for_state(folder, state, run):
    """Follows the journal line by line, as closely as can be: `journaled` lasts for 100 ms."""
    give_up = time.monotonic() + RUN_REACHES_IT
    wanted = f'"state":"{state}"'
    file = None
    while time.monotonic() < give_up and run.poll() is None:
        if file is None:
            found = glob.glob(f"{folder}/runs/*/journal.jsonl")
            if not found:
                time.sleep(0.01)
                continue
            file = open(found[0], encoding="utf-8")
        line = file.readline()
        if not line:
            time.sleep(0.002)
        elif '"kind":"fault"' in line and wanted in line:
            return os.path.dirname(file.name)
    return None


# ---- a trial


def scenario_of(folder, trigger):
    return os.path.join(os.path.dirname(folder), f"{trigger}.json")


def start_run(folder, trigger):
    subprocess.run(["rm", "-rf", f"{folder}/runs"], check=True)
    out = open(f"{folder}/run.out", "ab")
    return subprocess.Popen(
        [UNPLUG, "run", scenario_of(folder, trigger), "--out", f"{folder}/runs"],
        stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True,
    )


def kill_group(run):
    os.killpg(run.pid, signal.SIGKILL)
    killed = node_time()
    run.wait()
    return killed


def group_lives(run):
    try:
        os.killpg(run.pid, 0)
    except ProcessLookupError:
        return False
    return True


def watch_until_over(witness, trial, began):
    """Until the undo was seen, or could not be in time any more."""
    hopeless = trial["killed"] + trial["lease"] + undo_witness.UNDO_BEGINS_WITHIN + 3
    least = trial["killed"] + trial["lease"] + 0.5  # a lease that nobody holds has surely ended
    while node_time() < hopeless:
        seen = witness.since(began)
        stopped = undo_witness.stops(seen)
        fired = trial["state"] not in ("journaled", "armed") or stopped
        undone = stopped and stopped[-1][3] is not None
        if fired and undone and (node_time() > least or trial["state"] == "reverting"):
            break
        if not fired and node_time() > least and undo_witness.last_guard(seen) is not None:
            break
        time.sleep(0.05)


def ask(*words):
    done = subprocess.run([UNPLUG, *words], capture_output=True, text=True, timeout=HEAL_TAKES)
    return done.returncode, done.stdout + done.stderr


def judge_report(run_folder, healed):
    """What is wrong with what `unplug report` says."""
    wrong, when = [], "after heal" if healed else "before heal"
    status, text = ask("report", run_folder)
    if status not in ((3,) if healed else (3, 4)):
        wrong.append(f"report {when} exits {status}: {text[:400]}")
    if "broken off" not in text:
        wrong.append(f"report {when} does not say broken off: {text[:300]}")
    as_json, said = ask("report", run_folder, "--format", "json")
    said = json.loads(said)
    if as_json != status or said["exit"] != status or said["verdict"] == "pass":
        wrong.append(f"report {when}: {status}, as JSON {as_json} and {said['verdict']}")
    if healed and [fault for fault in said["faults"] if fault["unhealed"]]:
        wrong.append("report after heal calls the fault unhealed")
    if healed and [fault for fault in said["faults"] if fault["fired"] and not fault["undone"]]:
        wrong.append("report after heal does not show the undo")
    return wrong


def guard_log(run_folder):
    for path in glob.glob(f"{run_folder}/healed/{VICTIM}.freeze*.jsonl"):
        with open(path, encoding="utf-8") as file:
            return undo_witness.guard_lines(file.read())
    return []


def what_is_left(node, before, after):
    wrong = []
    known = {(pid, start) for pid, start, _, _ in before["processes"]}
    for pid, start, state, command in after["processes"]:
        if (pid, start) not in known:
            wrong.append(f"{node}: a process is left: {pid} {state} {command}")
        elif state == "T":
            wrong.append(f"{node}: a process is stopped: {pid} {command}")
    wrong += [f"{node}: a mount is left: {m}" for m in after["mounts"] if m not in before["mounts"]]
    wrong += [f"{node}: ~/.unplug has {path}" for path in after["unplug"]]
    return wrong


def wait_until_clean(before):
    """A session's sshd goes a moment after its client."""
    give_up = time.monotonic() + 3
    while True:
        after = look()
        left = [text for node in NODES for text in what_is_left(node, before[node], after[node])]
        if not left or time.monotonic() > give_up:
            return left
        time.sleep(0.2)


def trial_of(folder, trial, witness, before):
    state, trigger = trial["wanted"], trial["trigger"]
    began = node_time()
    run = start_run(folder, trigger)
    run_folder = wait_for_state(folder, state, run)
    if run_folder is None:
        run.poll() is not None or kill_group(run)
        return {**trial, "state": None, "wrong": [f"no run got as far as {state}"]}
    waited = random.uniform(0, SPREAD[state])
    time.sleep(waited)
    trial = {**trial, "waited": round(waited, 3), "killed": kill_group(run)}
    trial["state"], trial["lease"] = last_state(f"{run_folder}/journal.jsonl")
    wrong = []
    if trial["state"] in SPREAD and not trial["heal_at_once"]:
        watch_until_over(witness, trial, began)
        wrong += judge_report(run_folder, healed=False)
    trial["until"] = node_time()
    started = time.monotonic()
    healed, said = ask("heal", "--lab", LAB, "--into", run_folder)
    trial["heal_s"] = round(time.monotonic() - started, 1)
    if healed != 0:
        wrong.append(f"heal exits {healed}: {said[-400:]}")
    # What heal saved: the guard's own words, as data.
    trial["log"] = guard_log(run_folder)
    trial["seen"] = witness.since(began)
    if trial["state"] in SPREAD:
        wrong += judge_report(run_folder, healed=True)
        wrong = undo_witness.judge(trial) + wrong
    wrong += wait_until_clean(before)
    if group_lives(run):
        wrong.append("a process of the controller's group outlived it")
    trial["wrong"] = wrong
    trial["took_s"] = round(node_time() - began, 1)
    remove_what_the_farm_made()
    return trial


def hold(folder):
    run = start_run(folder, "at")
    if wait_for_state(folder, "in_effect", run):
        open(f"{folder}/in_effect", "w", encoding="utf-8").close()
    time.sleep(300)


def try_all(words, folder, out):
    # The witness' own session is there before the first look, so that it is nobody's leftover.
    witness = Witness()
    while not witness.lines:
        time.sleep(0.05)
    before = look()
    for word in words:
        trigger, state, *now = word.split(":")
        asked = {"wanted": state, "trigger": trigger, "heal_at_once": now == ["now"]}
        for _ in range(TRIES):
            trial = trial_of(folder, asked, witness, before)
            print(json.dumps(trial), file=out, flush=True)
            if trial["wrong"] or trial["state"] == state:
                break
    witness.process.terminate()


def main():
    folder, seed, *words = sys.argv[1:]
    random.seed(seed)
    with open(f"{folder}/trials.jsonl", "a", encoding="utf-8") as out:
        try_all([word for word in words if word != "hold"], folder, out)
    if words[-1] == "hold":
        hold(folder)


main()
