"""Figures as Markdown. Each goal stands beside its figure, met or missed."""

import machine


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "|".join(["---"] + ["---:"] * (len(head) - 1)) + "|"]
    lines += ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def number(value):
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
    return str(value)


def pair(spread):
    return f"{number(spread['p50'])} / {number(spread['p99'])}"


# ---- parts ---------------------------------------------------------------------------------


def connect(figures):
    names = list(figures[0]["tools"])
    head = ["nodes"] + names + ["clush : unplug", "CPU: unplug : pump"]
    rows, cpu = [], []
    for line in figures:
        tools = line["tools"]
        ours, pump = tools["unplug"], tools["bare pump"]
        rows.append([line["nodes"]] + [number(tools[name]["both_ms"]) for name in names] +
                    [number(tools["clush"]["both_ms"] / ours["both_ms"]),
                     number(ours["both_cpu_ms"] / pump["both_cpu_ms"])])
        cpu.append([line["nodes"]] + [number(tools[name]["both_cpu_ms"]) for name in names])
    memory = [[line["nodes"], number(line["tools"]["unplug"]["peak_mb"]),
               number(line["tools"]["bare pump"]["peak_mb"])] for line in figures]
    return ("Connect, authenticate and run `true`, all nodes at once; wall ms\n\n" + table(head, rows) +
            "\nClient CPU of the same; ms\n\n" + table(["nodes"] + names, cpu) +
            "\nMemory of the client with all sessions open; MB\n\n" +
            table(["nodes", "unplug", "bare pump"], memory))


def talk(figures):
    rows = [["`true` in a channel of its own", pair(figures["exec_ms"]), pair(figures["bare_exec_ms"])],
            ["a builtin asked of the resident shell", pair(figures["ask_ms"]), pair(figures["bare_line_ms"])]]
    return "One open session; ms, p50 / p99\n\n" + table(["", "unplug", "bare pump"], rows)


def fire(figures):
    rows = []
    for ours, bare in zip(figures["unplug"], figures["bare shell"]):
        rows.append([ours["nodes"], pair(ours["latency_ms"]), pair(ours["skew_ms"]),
                     pair(bare["latency_ms"]), pair(bare["skew_ms"])])
    return ("An armed process kill fired on all nodes at once; ms, p50 / p99. Latency: from the decision "
            "to the victim. Skew: from the first victim to the last.\n\n" +
            table(["nodes", "latency", "skew", "bare shell: latency", "skew"], rows))


def relay(figures):
    names = {"same_node_ms": "to a fault on the same node", "across_nodes_ms": "to a fault on another node",
             "line_to_observer_ms": "of that: until the observer has it",
             "line_to_controller_ms": "of that: until it is in our journal"}
    rows = [[text, pair(figures[key]), figures[key]["count"]] for key, text in names.items()]
    return ("From a line in a log to a fault, in a run on the embedded lab; ms, p50 / p99\n\n" +
            table(["from the line's own time", "ms", "faults"], rows))


def scenario(figures):
    rows = [["a whole run, s", figures["seconds"]], ["of that beyond its own waiting, s", figures["beyond_waiting_s"]],
            ["an observer, % of a core (p50)", figures["observer_percent"].get("p50", "-")],
            ["a guard, % of a core (p50)", figures["guard_percent"].get("p50", "-")]]
    spent = ", ".join(f"{name} {seconds}" for name, seconds in figures["phases_s"].items())
    return "`farm/worker-killed` on the embedded lab\n\n" + table(["", ""], rows) + f"\nPhases of the last run, s: {spent}.\n"


def slowdown(figures):
    rows = [[number(figures["bare_ms"]), number(figures["watched_ms"]), f"{figures['slower_percent']} %"]]
    return ("The farm's own job without and with an observer and an armed guard on either node; ms\n\n" +
            table(["without", "with", "slower"], rows))


def thousand(figures):
    if figures is None:
        return "1,000 sessions: not in a quick run\n"
    rows = [[number(figures["connect_ms"] / 1e3), number(figures["connect_cpu_ms"] / 1e3),
             number(figures["command_ms"] / 1e3), number(figures["peak_mb"]), figures["most_at_once"]]]
    return "1,000 sessions from one thread\n\n" + table(
        ["connect, s", "client CPU, s", "`true` on all, s", "memory, MB", "most handshakes at once"], rows)


def pure(figures):
    return "The pure layers\n\n" + table(
        ["", "time", "times the bare work"],
        [[one["name"], f"{number(one['time'])} {one['unit']}", number(one["times_bare"])] for one in figures])


# ---- goals ---------------------------------------------------------------------------------


def last_of(figures, key, nodes):
    return next((line for line in figures[key] if line["nodes"] == nodes), figures[key][-1])


def goals(parts):
    """(what, figure, goal, met) of those parts that were measured."""
    if "connect" in parts:
        line = parts["connect"][-1]
        tools = line["tools"]
        ratio = tools["clush"]["both_ms"] / tools["unplug"]["both_ms"]
        yield f"clush : unplug, connect and one command, {line['nodes']} nodes", ratio, ">= 4.5", ratio >= 4.5
        ratio = tools["unplug"]["both_cpu_ms"] / tools["bare pump"]["both_cpu_ms"]
        yield "client CPU, unplug : bare pump, the same", ratio, "<= 1.3", ratio <= 1.3
        peak = tools["unplug"]["peak_mb"]
        yield f"memory with {line['nodes']} sessions, MB", peak, "< 100", peak < 100
    if "talk" in parts:
        ask = parts["talk"]["ask_ms"]["p50"]
        yield "a builtin through the resident shell, p50 ms", ask, "<= 0.3", ask <= 0.3
    if "fire" in parts:
        line = last_of(parts["fire"], "unplug", 10)
        yield "armed fire at 10 nodes, p50 ms", line["latency_ms"]["p50"], "<= 0.2", line["latency_ms"]["p50"] <= 0.2
        yield "skew at 10 nodes, p50 ms", line["skew_ms"]["p50"], "about 1", line["skew_ms"]["p50"] <= 1.5
    if "relay" in parts:
        far, near = parts["relay"]["across_nodes_ms"]["p50"], parts["relay"]["same_node_ms"]["p50"]
        yield "line to fault across nodes, p50 ms", far, "<= 5", far <= 5
        yield "line to fault on the same node, p50 ms", near, "<= 2", near <= 2
    if "scenario" in parts:
        for kind in ("observer", "guard"):
            most = parts["scenario"][f"{kind}_percent"].get("p50")
            if most is not None:
                yield f"{kind}, % of a core", most, "< 1", most < 1


def markdown(found):
    facts = found["machine"]
    text = "# Figures of `./dev bench`" + (" --quick" if found["quick"] else "") + "\n\n"
    text += (f"{facts['cores']} cores ({facts['cpu']}), {facts['memory_gb']} GB, {facts['system']}; {facts['openssh']}; "
             f"libssh2 {facts['libssh2']}; clustershell {facts['clustershell']}. Client, servers and nodes share these "
             f"cores. Load before {facts['load'][0]:.1f}, after {facts['load_after'][0]:.1f}.\n\n")
    parts = {name: part["figures"] for name, part in found["parts"].items() if not part["failed"]}
    rows = [[what, number(float(value)), goal, "yes" if met else "NO"] for what, value, goal, met in goals(parts)]
    text += table(["goal", "figure", "wanted", "met"], rows)
    makers = {"connect": connect, "talk": talk, "fire": fire, "relay": relay, "scenario": scenario,
              "slowdown": slowdown, "thousand": thousand, "pure": pure}
    for name, part in found["parts"].items():
        text += f"\n## {name}\n\n"
        text += f"FAILED: {part['failed']}\n" if part["failed"] else makers[name](part["figures"])
        if part["busy_before"] > machine.BUSY:
            text += f"\n**Taken under load**: others used {part['busy_before']:.0%} of the machine just before.\n"
    return text
