"""The rows that need whole runs on the embedded lab: from a line of a log to a fault, what
observers and guards cost, and what a scenario takes beyond its own waiting."""

import glob
import json
import os
import statistics
import subprocess
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
TICK = os.sysconf("SC_CLK_TCK")


def spread(values):
    """p50 and p99, as ssh_bench gives them."""
    values = sorted(values)
    if not values:
        return {"count": 0}
    at = lambda part: round(values[min(int(part * len(values)), len(values) - 1)], 3)
    return {"p50": at(0.5), "p99": at(0.99), "least": at(0), "most": at(1), "count": len(values)}


def run(program, scenario, out, *options):
    """One run; its journal. A run that does not pass has no figures to give."""
    done = subprocess.run([program, "run", scenario, "--out", out, *options], cwd=ROOT,
                          capture_output=True, text=True, timeout=300)
    folder = max(glob.glob(f"{out}/*/"), key=os.path.getmtime)
    if done.returncode != 0:
        raise RuntimeError(f"{scenario} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    with open(f"{folder}/journal.jsonl") as lines:
        return [json.loads(line) for line in lines]


# ---- from a line to a fault ----------------------------------------------------------------


def of_target(journal, event):
    return [line for line in journal if line["kind"] == "target" and line["data"]["event"] == event]


def shots(journal, faults):
    """For each fault: ms from the line's own time to the victim's, and the steps between."""
    ticks = {}
    for line in of_target(journal, "tick"):
        ticks[int(line["data"]["fields"]["n"])] = line
    hits = {line["data"]["seat"]: int(line["data"]["fields"]["at"]) for line in of_target(journal, "hit")}
    for fault in faults:
        line = ticks[fault["when"]["n"]]
        written = int(line["data"]["fields"]["at"])
        hit = hits[fault["process"].replace(" ", "-")]
        yield {"id": fault["id"], "all": (hit - written) / 1e6,
               "to_observer": (line["nt"] - written) / 1e6, "to_us": (line["t"] - written) / 1e6}


def relay(program, out, runs, tell):
    scenario = f"{HERE}/relay.json"
    with open(scenario) as text:
        faults = json.load(text)["faults"]
    seen = []
    for number in range(runs):
        seen += shots(run(program, scenario, out, "--targets", f"{HERE}/targets"), faults)
        tell(f"line to fault: run {number + 1}")
    far = [shot for shot in seen if shot["id"].startswith("far")]
    near = [shot for shot in seen if shot["id"].startswith("near")]
    return {"same_node_ms": spread([shot["all"] for shot in near]),
            "across_nodes_ms": spread([shot["all"] for shot in far]),
            "line_to_observer_ms": spread([shot["to_observer"] for shot in far]),
            "line_to_controller_ms": spread([shot["to_us"] for shot in far])}


# ---- what watching costs -------------------------------------------------------------------


class Watched(threading.Thread):
    """CPU of every process of the given kinds, read from /proc until stopped."""

    KINDS = {"observer": "sh/observe.pl\0start", "guard": "/guard.sh\0arm"}

    def __init__(self):
        super().__init__(daemon=True)
        self.over = threading.Event()
        self.seen = {}  # (kind, session) -> [first time, first ticks, last time, last ticks]

    def run(self):
        while not self.over.wait(0.25):
            self._look()

    def _look(self):
        now, sums = os.times().elapsed, {}
        for path in glob.glob("/proc/[0-9]*/cmdline"):
            try:
                with open(path) as text:
                    command = text.read()
                kind = next((k for k, part in self.KINDS.items() if part in command), None)
                if kind:
                    with open(path.replace("cmdline", "stat")) as text:
                        fields = text.read().rsplit(")", 1)[1].split()
                    key = (kind, fields[3])  # a guard and its children are one session
                    sums[key] = sums.get(key, 0) + sum(int(f) for f in fields[11:15])
            except OSError:
                continue  # it has ended meanwhile
        for key, ticks in sums.items():
            first = self.seen.setdefault(key, [now, ticks, now, ticks])
            first[2], first[3] = now, max(ticks, first[3])

    def percent(self, kind):
        """Of one core, each of those that were seen for two seconds or more."""
        return [round(100 * (last - first) / TICK / (until - since), 3)
                for (what, _), (since, first, until, last) in self.seen.items()
                if what == kind and until - since >= 2]


def phases(journal):
    """Seconds of each phase of the run itself."""
    found, begun = {}, {}
    for line in journal:
        if line["kind"] != "phase":
            continue
        name, edge = line["data"]["name"], line["data"]["edge"]
        if edge == "begin":
            begun[name] = line["t"]
        elif name in begun:
            found[name] = found.get(name, 0) + round((line["t"] - begun.pop(name)) / 1e9, 3)
    return found


OWN_WAITING = ("run", "settle", "recover")  # the target's work, and faults that are held


def scenario(program, out, runs, tell):
    """worker-killed of the farm: phases, and the CPU of what watches its nodes."""
    beyond, totals, observers, guards = [], [], [], []
    for number in range(runs):
        watched = Watched()
        watched.start()
        journal = run(program, f"{ROOT}/scenarios/farm/worker-killed.json", out)
        watched.over.set()
        watched.join()
        tell(f"scenario: run {number + 1}")
        took = (journal[-1]["t"] - journal[0]["t"]) / 1e9
        spent = phases(journal)
        waiting = sum(spent.get(name, 0) for name in OWN_WAITING) + spent.get("baseline", 0)
        totals.append(took)
        beyond.append(took - waiting)
        observers += watched.percent("observer")
        guards += watched.percent("guard")
    return {"seconds": round(statistics.median(totals), 2),
            "beyond_waiting_s": round(statistics.median(beyond), 2),
            "phases_s": spent,
            "observer_percent": spread(observers), "guard_percent": spread(guards)}


def slowdown(rounds):
    """The farm's own time for a job that nothing limits, with and without watching."""
    done = subprocess.run([f"{HERE}/farm_time.sh", str(rounds)], check=True, capture_output=True,
                          text=True, timeout=600)
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    bare = statistics.median(row["ms"] for row in rows if not row["watched"])
    watched = statistics.median(row["ms"] for row in rows if row["watched"])
    return {"bare_ms": bare, "watched_ms": watched, "slower_percent": round(100 * (watched / bare - 1), 1),
            "rows": rows}
