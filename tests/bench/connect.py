"""Connect, authenticate and run `true` on N nodes at once: us, the bare pump, ssh and clush.

Every tool once a round, in turns and the next round the other way round, so that what else the
machine does meets all of them. ssh and clush are also held to the key exchange, cipher and MAC
that our libssh2 negotiates: OpenSSH's default exchange (post-quantum) is most of what it costs.
"""

import json
import resource
import statistics
import subprocess
import time

SAME = ["-oKexAlgorithms=curve25519-sha256", "-oHostKeyAlgorithms=ssh-ed25519",
        "-oCiphers=aes128-ctr", "-oMACs=hmac-sha2-256"]


class Rows:
    """The programs that make the rows; `folder` is what `ssh_bench serve` filled."""

    def __init__(self, program, folder):
        self.program, self.folder = program, folder
        self.config = f"{folder}/ssh_config"

    def ours(self, who, count):
        done = subprocess.run([self.program, "connect", who, self.folder, str(count)],
                              check=True, capture_output=True, text=True, timeout=300)
        return json.loads(done.stdout)

    def _timed(self, count, run):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        begun = time.monotonic()
        run()
        took = time.monotonic() - begun
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return {"nodes": count, "both_ms": took * 1e3, "both_cpu_ms": cpu * 1e3}

    def ssh(self, options, count):
        def run():
            started = [subprocess.Popen(["ssh", "-F", self.config, *options, f"n{n + 1}", "true"],
                                        stdin=subprocess.DEVNULL) for n in range(count)]
            codes = [one.wait(timeout=300) for one in started]
            if any(codes):
                raise RuntimeError(f"ssh: {sum(1 for code in codes if code)} of {count} failed")
        return self._timed(count, run)

    def clush(self, options, count):
        def run():
            subprocess.run(["clush", "-q", "-S", "-f", str(count), "-w", f"n[1-{count}]",
                            "-o", " ".join(["-F", self.config, *options]), "true"],
                           stdin=subprocess.DEVNULL, check=True, timeout=300)
        return self._timed(count, run)

    def tools(self):
        return {
            "unplug": lambda n: self.ours("ours", n),
            "bare pump": lambda n: self.ours("pump", n),
            "ssh": lambda n: self.ssh([], n),
            "ssh, same exchange": lambda n: self.ssh(SAME, n),
            "clush": lambda n: self.clush([], n),
            "clush, same exchange": lambda n: self.clush(SAME, n),
        }


def median_of(rows):
    return {key: round(statistics.median(row[key] for row in rows), 2) for key in rows[0]}


def measure(program, folder, sizes, rounds, tell):
    tools = Rows(program, folder).tools()
    table = []
    for size in sizes:
        seen = {name: [] for name in tools}
        for number in range(rounds):
            order = list(tools) if number % 2 == 0 else list(reversed(tools))
            for name in order:
                seen[name].append(tools[name](size))
        tell(f"connect: {size} nodes")
        table.append({"nodes": size, "tools": {name: median_of(rows) for name, rows in seen.items()}})
    return table
