"""What a lab leaves on its host: host_traces.py [--kill-when FILE] COMMAND...

Runs COMMAND (`unplug lab ...`), follows every process below it and every namespace that they live
in, and once it has ended looks whether the host has any of them, or a mount or an interface that it
had not before. With --kill-when the command, the outermost process, is killed with -9 as soon as
FILE exists. Exits 1 when something was left; else with the command's status, or 0 if it was killed.

A false pass would be to look for nothing: so it counts what it has followed. A namespace's number
is used again at once, by other labs too: each is held open while it is looked for. Zombies are
ignored: they wait for their reaper.
"""

import os
import signal
import subprocess
import sys
import time

KINDS = ("user", "mnt", "pid", "net", "uts", "ipc", "cgroup")
EVERY = 0.3
GONE_WITHIN = 5.0
FEWEST = (8, 15)  # a lab of fewer processes or namespaces is none


def stat_of(pid):
    """(state, parent, start), or None."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            fields = file.read().rpartition(") ")[2].split()
        return fields[0], int(fields[1]), int(fields[19])
    except (OSError, IndexError):
        return None


def processes():
    found = {int(name): stat_of(name) for name in os.listdir("/proc") if name.isdigit()}
    return {pid: stat for pid, stat in found.items() if stat}


def namespace(pid, kind):
    try:
        return os.stat(f"/proc/{pid}/ns/{kind}").st_ino
    except OSError:
        return None


def host_view():
    with open("/proc/self/mountinfo", encoding="utf-8") as file:
        mounts = {"mount " + line.split(" - ")[0].split(" ", 2)[2] for line in file}
    return mounts | {"interface " + name for name in os.listdir("/sys/class/net")}


class Followed:
    def __init__(self, outer):
        self.outer, self.seen, self.spaces = outer, {}, {}
        self.hosts = {kind: {namespace("self", kind), namespace(1, kind)} for kind in KINDS}

    def look(self):
        now = processes()
        for pid in now:
            up = pid
            while up in now and up != self.outer:
                up = now[up][1]
            if up == self.outer and (pid, now[pid][2]) not in self.seen:
                self.seen[pid, now[pid][2]] = True
                self.hold(pid)

    def hold(self, pid):
        for kind in KINDS:
            inode = namespace(pid, kind)
            if inode is None or inode in self.hosts[kind] or (kind, inode) in self.spaces:
                continue
            try:
                self.spaces[kind, inode] = os.open(f"/proc/{pid}/ns/{kind}", os.O_RDONLY)
            except OSError:
                pass

    def left(self):
        now, found = processes(), []
        for pid, (state, _, start) in now.items():
            if state in "ZX":
                continue
            if (pid, start) in self.seen:
                found.append(f"process {pid} ({state})")
            inside = [kind for kind in KINDS if (kind, namespace(pid, kind)) in self.spaces]
            if inside and pid != os.getpid():
                found.append(f"process {pid} in its namespaces {' '.join(inside)}")
        return found

    def let_go(self):
        for held in self.spaces.values():
            os.close(held)


def wait_until_gone(look):
    give_up = time.monotonic() + GONE_WITHIN
    while (found := look()) and time.monotonic() < give_up:
        time.sleep(0.1)
    return found


def run(command, kill_when):
    before = host_view()
    child = subprocess.Popen(command, start_new_session=True)
    followed = Followed(child.pid)
    killed = False
    while child.poll() is None:
        followed.look()
        if kill_when and not killed and os.path.exists(kill_when):
            followed.look()
            os.kill(child.pid, signal.SIGKILL)
            killed = True
        time.sleep(EVERY)
    found = wait_until_gone(followed.left)
    followed.let_go()
    found += wait_until_gone(lambda: sorted(host_view() - before))
    counts = (len(followed.seen), len(followed.spaces))
    followed_text = f"{counts[0]} processes, {counts[1]} namespaces"
    for what in found:
        print(f"LEFT ON THE HOST: {what}")
    if any(count < fewest for count, fewest in zip(counts, FEWEST)):
        print(f"FAILED: {followed_text} were followed: that is no lab")
        return 1
    if kill_when and not killed:
        print(f"FAILED: it ended by itself ({child.returncode}) before {kill_when} was there")
        return 1
    if found:
        return 1
    print(f"the host has nothing of {followed_text}{', killed' if killed else ''}")
    return 0 if killed else child.returncode


def main():
    words, kill_when = sys.argv[1:], None
    if words[0] == "--kill-when":
        kill_when, words = words[1], words[2:]
    sys.exit(run(words, kill_when))


main()
