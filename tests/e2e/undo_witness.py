"""An independent witness of undos: it shares no line and no record with the product.

  python3 - watch <undo_witness.py   on the node: who is stopped, does a guard live? By /proc alone.
  python3 - look <undo_witness.py    on a node: its processes, mounts and what is under ~/.unplug
  undo_witness.py tell FILE...       what all trials together showed

and judge(), for the trials on the controller: was the undo in time? A guard's log is read as data
only: the end of its lease. That end is held against what no guard knows: when the controller died.
All times are seconds of the node's clock that counts since boot, the one of /proc/uptime.
"""

import json
import os
import sys
import time

LOOK_EVERY = 0.01
NEW_EVERY = 0.1  # how often processes that are new are looked for
BEAT = 0.25

UNDO_BEGINS_WITHIN = 2.0
CLOCK_STEP = 0.01  # of /proc/uptime, in which a guard counts
# Fire may be on its way when the controller dies; it takes no longer than this.
IN_FLIGHT = 0.5
# The first lease runs from before a guard has its pipes and its firer, and only then it says so.
ARMING_TAKES = 1.0
# A guard without anybody to talk to waits 2 s for its last line to be taken.
GUARD_LEAVES_WITHIN = 3.0


def node_time():
    return time.clock_gettime(time.CLOCK_BOOTTIME)


# ---- on the node


def stat_of(pid):
    """(state, start) of a process, or None when it is gone."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            fields = file.read().rpartition(") ")[2].split()
        return fields[0], int(fields[19])
    except (OSError, IndexError):
        return None


def command_of(pid):
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return [a.decode(errors="replace") for a in file.read().split(b"\0")[:-1]]
    except OSError:
        return []


def pids():
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def runs_script(command, name):
    return any(argument.rsplit("/", 1)[-1] == name for argument in command[:3])


class Watch:
    """Says on stdout when a worker of the farm stops, goes on or ends, and which guards live."""

    def __init__(self):
        self.workers, self.guards, self.said, self.known = {}, set(), {}, set()
        self.looked = node_time()

    def say(self, **what):
        print(json.dumps({"at": round(node_time(), 3), **what}), flush=True)

    def look_for_new(self):
        now = set(pids())
        for pid in now:
            # A pid that is known may have become another program since: exec.
            if pid in self.workers or pid in self.guards:
                continue
            stat, command = stat_of(pid), command_of(pid)
            if stat and runs_script(command, "worker.sh"):
                self.workers[pid] = stat[1]
            elif stat and runs_script(command, "guard.sh"):
                self.guards.add(pid)
                self.say(guards=len(self.guards))

    def look(self):
        # The moment before the look: what is seen changed after the look before and by now.
        before, self.looked = self.looked, node_time()
        for pid, start in list(self.workers.items()):
            stat = stat_of(pid)
            state = stat[0] if stat and stat[1] == start else "gone"
            kind = "gone" if state in "gone Z X" else "stopped" if state in "Tt" else "runs"
            if self.said.get(pid) != kind:
                self.said[pid] = kind
                self.say(pid=pid, start=start, state=kind, after=round(before, 3))
            if kind == "gone":
                del self.workers[pid], self.said[pid]
        gone = {pid for pid in self.guards if not runs_script(command_of(pid), "guard.sh")}
        if gone:
            self.guards -= gone
            self.say(guards=len(self.guards))

    def go(self):
        beat = new = 0.0
        while True:
            now = node_time()
            if now >= new:
                self.look_for_new()
                new = now + NEW_EVERY
            self.look()
            if now >= beat:
                self.say(beat=True)
                beat = now + BEAT
            time.sleep(LOOK_EVERY)


def our_own():
    """This process and all that carry it, up to its sshd: they are not the run's."""
    own, pid = set(), os.getpid()
    while pid > 1:
        own.add(pid)
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            pid = int(file.read().rpartition(") ")[2].split()[1])
    return own


def look():
    own, processes = our_own(), []
    for pid in pids():
        stat = stat_of(pid)
        if pid not in own and stat and stat[0] not in "ZX":
            processes.append([pid, stat[1], stat[0], " ".join(command_of(pid))])
    with open("/proc/self/mounts", encoding="utf-8") as file:
        mounts = sorted(" ".join(line.split()[:3]) for line in file)
    home = os.path.expanduser("~/.unplug")
    under = [os.path.join(at, name) for at, dirs, files in os.walk(home) for name in dirs + files]
    print(json.dumps({"processes": processes, "mounts": mounts, "unplug": sorted(under)}))


# ---- on the controller


def guard_lines(text):
    lines = []
    for line in text.splitlines():
        try:
            said = json.loads(line)
        except ValueError:
            continue
        if isinstance(said, dict) and "guard" in said:
            lines.append(said)
    return lines


def lease_end(log, lease):
    """The end of the lease: of the last renewal that the guard acknowledged, else of arming."""
    end = None
    for said in log:
        if said["guard"] == "armed":
            end = said["nt"] / 1e9 + lease
        elif said["guard"] == "renewed":
            end = float(said["until"])
    return end


def stops(seen):
    """Every stop: [pid, first and last seen stopped, first seen not stopped, as what]."""
    found, open_stops = [], {}
    for line in seen:
        if line.get("state") == "stopped":
            open_stops[line["pid"]] = [line["pid"], line["at"], None, None, None]
            found.append(open_stops[line["pid"]])
        elif "state" in line and line["pid"] in open_stops:
            open_stops.pop(line["pid"])[2:] = [line["after"], line["at"], line["state"]]
    return found


def last_guard(seen):
    """When the last guard was seen to be gone: None while one lives, 0 if there was none."""
    counts = [line for line in seen if "guards" in line]
    if not counts:
        return 0
    return counts[-1]["at"] if counts[-1]["guards"] == 0 else None


def judge(trial):
    """What is wrong with a trial, a sentence each; sets trial["late"]: undo minus end of the lease.

    trial: state (the journal's last), trigger ("at" or "when"), killed, until (heal was called),
    heal_at_once, lease, log (the guard's lines), seen (the witness' lines).
    """
    wrong = []
    killed, lease, seen = trial["killed"], trial["lease"], trial["seen"]
    end = lease_end(trial["log"], lease)
    stopped = stops(seen)
    beats = [line["at"] for line in seen if "beat" in line]
    gaps = [b - a for a, b in zip(beats, beats[1:])]
    trial["blind"] = round(max(gaps, default=99) - BEAT, 2)
    trial["stops"] = len(stopped)
    if not beats or beats[-1] < trial["until"] - 1:
        return ["the witness did not watch to the end"]
    if end is not None and end > killed + lease + IN_FLIGHT and trial["state"] != "journaled":
        late = end - lease - killed
        wrong.append(f"the lease was renewed {late:.2f} s after the controller's death")
    must_have_fired = trial["state"] in ("fired", "in_effect", "reverting")
    if must_have_fired and len(stopped) != 1:
        wrong.append(f"one stop was to be seen, {len(stopped)} were")
    if len(stopped) > 1:
        wrong.append("the fault fired more than once")
    for _, since, last, over, as_what in stopped:
        if end is None:
            wrong.append("it fired, and no guard had a lease")
            continue
        wrong += judge_stop(trial, end, since, last, over, as_what)
    gone = last_guard(seen)
    if not stopped and end is not None:
        if gone is None or gone > end + UNDO_BEGINS_WITHIN + GUARD_LEAVES_WITHIN:
            wrong.append("the guard of a fault that never fired did not go")
        began = [said["nt"] / 1e9 for said in trial["log"] if said["guard"] == "reverting"]
        if not began or began[0] > end + UNDO_BEGINS_WITHIN:
            wrong.append("it was not disarmed by the end of the lease + 2 s")
        else:
            trial["late"] = round(began[0] - end, 3)
    return wrong


def judge_stop(trial, end, since, last, over, as_what):
    wrong = []
    if trial["trigger"] == "at" and since > trial["killed"] + IN_FLIGHT:
        wrong.append(f"it fired {since - trial['killed']:.2f} s after the controller's death")
    if since > end + LOOK_EVERY + CLOCK_STEP + max(trial["blind"], 0):
        wrong.append(f"it fired {since - end:.2f} s after the end of its lease")
    if over is None:
        return [*wrong, "the victim was never seen to go on"]
    trial["late"] = round(over - end, 3)
    if as_what != "runs":
        wrong.append("the victim did not go on: it died")
    if over > end + UNDO_BEGINS_WITHIN:
        wrong.append(f"the undo was seen {over - end:.2f} s after the end of the lease")
    after_kill = over - trial["killed"]
    if after_kill > trial["lease"] + UNDO_BEGINS_WITHIN + IN_FLIGHT:
        wrong.append(f"the undo was seen {after_kill:.2f} s after the controller's death")
    # EOF is silence: what ended before its lease was ended by somebody else.
    if trial["heal_at_once"]:
        return wrong
    if over > trial["until"]:
        wrong.append("it was heal that undid it")
    renewed = any(said["guard"] == "renewed" for said in trial["log"])
    early = CLOCK_STEP if renewed else ARMING_TAKES
    if trial["state"] in ("fired", "in_effect") and over < end - early:
        wrong.append(f"the undo came {end - over:.2f} s before the end of the lease")
    return wrong


# ---- all trials together

STATES = ("journaled", "armed", "fired", "in_effect", "reverting")
FEWEST_OF_EACH = 5
STORY = ("wanted", "trigger", "heal_at_once", "waited", "killed", "until", "log")


def figures(name, values):
    if not values:
        return f"{name}: none"
    middle = sorted(values)[len(values) // 2]
    return f"{name}: {len(values)}, median {middle:.2f} s, longest {max(values):.2f} s"


def tell(files):
    """Says what all trials showed; exits 1 when one is wrong or a state had too few."""
    trials = []
    for path in files:
        with open(path, encoding="utf-8") as file:
            trials += [json.loads(line) for line in file]
    bad = 0
    for trial in trials:
        for wrong in trial["wrong"]:
            bad += 1
            story = {key: trial.get(key) for key in STORY}
            print(f"FAILED: killed while {trial['state']}: {wrong}\n        {json.dumps(story)}")
    for state in STATES:
        of_state = [t for t in trials if t["state"] == state and not t["heal_at_once"]]
        late = [trial["late"] for trial in of_state if "late" in trial]
        print(f"{state:10} {len(of_state)} kills;", figures("undo after the lease's end", late))
        if len(of_state) < FEWEST_OF_EACH:
            bad += 1
            print(f"FAILED: {FEWEST_OF_EACH} kills while {state} were to be tried")
    missed = [trial for trial in trials if trial["state"] not in STATES]
    blind = max((trial["blind"] for trial in trials if "blind" in trial), default=0)
    at_once = [trial["heal_s"] for trial in trials if trial["heal_at_once"]]
    print(figures("heal called at once", at_once))
    print(f"{len(missed)} kills came too late and count for nothing")
    print(f"the witness was blind for {blind:.2f} s at most")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    if sys.argv[1] == "watch":
        try:
            Watch().go()
        except BrokenPipeError:
            pass
    elif sys.argv[1] == "tell":
        tell(sys.argv[2:])
    else:
        look()
