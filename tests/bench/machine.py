"""What the figures were taken on, and how busy it was meanwhile: a figure without it says little."""

import os
import platform
import subprocess

BUSY = 0.2  # of the machine, by others: figures taken beside more than that are marked


def first_line(*command):
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10)
    except OSError:
        return "not installed"
    return ((done.stdout or done.stderr).strip().splitlines() or ["says nothing"])[0]


def package(name):
    return first_line("dpkg-query", "-W", "-f=${Version}", name)


def cpu_name():
    with open("/proc/cpuinfo") as lines:
        for line in lines:
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return "unknown"


def memory_gb():
    return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1)


def facts():
    return {
        "cores": os.cpu_count(),
        "cpu": cpu_name(),
        "memory_gb": memory_gb(),
        "system": f"{platform.system()} {platform.release()}",
        "openssh": first_line("ssh", "-V"),
        "libssh2": package("libssh2-1"),
        "clustershell": package("clustershell"),
        "load": os.getloadavg(),
    }


def _idle_and_all():
    with open("/proc/stat") as stat:
        ticks = [int(word) for word in stat.readline().split()[1:]]
    return ticks[3] + ticks[4], sum(ticks)


def busy_for(seconds, wait):
    """The part of the machine that others use while we wait."""
    idle, total = _idle_and_all()
    wait(seconds)
    idle_then, total_then = _idle_and_all()
    return round(1 - (idle_then - idle) / max(1, total_then - total), 2)
