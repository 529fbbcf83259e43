#!/usr/bin/env python3
"""All figures in one run: build/bench/bench.md and bench.json. Called by `./dev bench`.

    bench.py [--quick] [--build FOLDER] [--only PART...]

docs/benchmarks.md says how each figure is taken, and what limits it.
"""

import argparse
import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

import connect
import farm
import machine
import render

PARTS = ["pure", "connect", "talk", "fire", "relay", "scenario", "slowdown", "thousand"]


def tell(text):
    print(f"{time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)


@contextlib.contextmanager
def servers(program, count):
    """sshds for `count` nodes; the folder that tells where they are."""
    with tempfile.TemporaryDirectory(prefix="unplug-bench-") as folder:
        served = subprocess.Popen([program, "serve", folder, str(count)], stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE, text=True)
        try:
            if served.stdout.readline() != "ready\n":
                raise RuntimeError("the sshds did not start")
            yield folder
        finally:
            served.stdin.close()
            served.wait(timeout=60)


def row(program, *words):
    done = subprocess.run([program, *map(str, words)], capture_output=True, text=True, timeout=600)
    if done.returncode != 0:
        raise RuntimeError(f"ssh_bench {words}: {done.stderr}")
    return json.loads(done.stdout)


def pure(build, quick):
    done = subprocess.run([f"{build}/pure_bench", "--benchmark_format=json",
                           f"--benchmark_min_time={0.2 if quick else 1}"],
                          check=True, capture_output=True, text=True)
    return [{"name": one["name"].split("/")[0], "time": one["real_time"], "unit": one["time_unit"],
             "times_bare": one.get("times_bare")} for one in json.loads(done.stdout)["benchmarks"]]


class Bench:
    def __init__(self, build, quick):
        self.build, self.quick = build, quick
        self.ssh_bench = f"{build}/ssh_bench"
        self.program = f"{build}/unplug"

    def connect(self):
        sizes = [1, 10, 50] if self.quick else [1, 10, 50, 100, 200]
        with servers(self.ssh_bench, sizes[-1]) as folder:
            return connect.measure(self.ssh_bench, folder, sizes, 1 if self.quick else 3, tell)

    def talk(self):
        with servers(self.ssh_bench, 1) as folder:
            return row(self.ssh_bench, "talk", folder, 50 if self.quick else 400)

    def fire(self):
        """{"unplug": [...], "bare shell": [...]}, a row each for every number of nodes."""
        sizes = {1: 5, 10: 4} if self.quick else {1: 20, 10: 12, 50: 4, 200: 2}
        found = {"unplug": [], "bare shell": []}
        with servers(self.ssh_bench, max(sizes)) as folder:
            for size, rounds in sizes.items():
                for name, who in (("unplug", "ours"), ("bare shell", "pump")):
                    found[name].append(row(self.ssh_bench, "fire", who, folder, size, rounds))
                tell(f"fire: {size} nodes")
        return found

    def relay(self):
        return self._with_runs(lambda out: farm.relay(self.program, out, 1 if self.quick else 5, tell))

    def scenario(self):
        return self._with_runs(lambda out: farm.scenario(self.program, out, 1 if self.quick else 3, tell))

    def slowdown(self):
        return farm.slowdown(1 if self.quick else 4)

    def thousand(self):
        """1,000 sessions at once: that they stand, and what they weigh."""
        if self.quick:
            return None
        with servers(self.ssh_bench, 1000) as folder:
            return row(self.ssh_bench, "connect", "ours", folder, 1000)

    def pure(self):
        return pure(self.build, self.quick)

    def _with_runs(self, measure):
        with tempfile.TemporaryDirectory(prefix="unplug-bench-") as out:
            os.environ["XDG_CACHE_HOME"] = f"{out}/cache"  # of baselines: none of the user's
            os.mkdir(f"{out}/cache")
            os.mkdir(f"{out}/runs")
            return measure(f"{out}/runs")


def measured(bench, part):
    busy = machine.busy_for(1, time.sleep)
    begun = time.monotonic()
    tell(f"{part} ({round(busy * 100)} % of the machine is in use by others)")
    figures, failed = None, None
    try:
        figures = getattr(bench, part)()
    except (RuntimeError, subprocess.SubprocessError) as error:  # the other parts go on
        failed = str(error)
        tell(f"{part} FAILED: {failed}")
    return {"figures": figures, "failed": failed, "busy_before": busy,
            "seconds": round(time.monotonic() - begun, 1)}


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--quick", action="store_true", help="fewer nodes and rounds: a minute or two")
    arguments.add_argument("--build", default="build")
    arguments.add_argument("--only", nargs="+", choices=PARTS, default=PARTS)
    given = arguments.parse_args()
    bench = Bench(os.path.abspath(given.build), given.quick)
    if "connect" in given.only and not shutil.which("clush"):
        sys.exit("bench: clush is not installed (Debian: clustershell)")
    found = {"machine": machine.facts(), "quick": given.quick, "parts": {}}
    for part in given.only:
        found["parts"][part] = measured(bench, part)
    found["machine"]["load_after"] = os.getloadavg()
    out = f"{bench.build}/bench"
    os.makedirs(out, exist_ok=True)
    with open(f"{out}/bench.json", "w") as file:
        json.dump(found, file, indent=1)
    text = render.markdown(found)
    with open(f"{out}/bench.md", "w") as file:
        file.write(text)
    print(text)
    tell(f"also in {out}/bench.json and bench.md")
    if any(part["failed"] for part in found["parts"].values()):
        sys.exit(1)


if __name__ == "__main__":
    main()
