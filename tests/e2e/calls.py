"""Compares what `unplug plan --exact` printed with what the nodes' login shells recorded.

  calls.py plan PLAN NODE=RECORDS...   under `plan` no script was called and the probes came on stdin
  calls.py run PLAN NODE=RECORDS...    the run called the planned set (node, name, verb, parameters)
  calls.py same BEFORE AFTER           two listings of a node are equal

PLAN is the output of `unplug plan --exact`; RECORDS a folder that recorder.pl wrote on that node.
"""

import pathlib
import re
import shlex
import sys

VARIABLE = re.compile(r"[A-Z_][A-Z0-9_]*=")
PHASE = re.compile(r"  (preflight|deploy|start|run|recover|capture|stop) +(\S.*)")
problems = []


def call_of(line):
    """(name, verb, VARS as a set, arguments) of `[cd FOLDER &&] VARS sh sh/verb.sh NAME VERB ...`"""
    words = shlex.split(line)
    if words[:1] == ["cd"] and words[2:3] == ["&&"]:
        words = words[3:]
    variables = []
    while words and VARIABLE.match(words[0]):
        variables.append(words.pop(0))
    if words[:2] != ["sh", "sh/verb.sh"] or len(words) < 4 or len(variables) != len(set(variables)):
        return None
    return words[2], words[3], frozenset(variables), tuple(words[4:])


def planned(file):
    """[(node, call, optional)] in the order of the plan."""
    calls, node = [], None
    for line in pathlib.Path(file).read_text().splitlines():
        match = PHASE.match(line)
        if re.fullmatch(r"[A-Za-z0-9.-]+", line):
            node = line
        elif match and node:
            call = call_of(match.group(2))
            if call is None:
                problems.append(f"the plan has a line that is no call: {line}")
            calls.append([node, call, False])
        elif line.strip().startswith("# only if ") and calls:
            calls[-1][2] = True
    return calls


def decoded(text):
    """What printf %b makes of it."""
    return re.sub(r"\\0([0-7]{3})", lambda m: chr(int(m.group(1), 8)), text).encode("latin-1").decode()


def line_of(argv):
    """The line that a framed command carries; None when it is not one."""
    if len(argv) != 2 or argv[0] != "-c":
        return None
    words = shlex.split(argv[1])
    if words[:3] == ["exec", "sh", "-c"] and len(words) == 6 and words[4] == "unplug":
        return decoded(words[5])
    return None


def lines_on_stdin(stdin):
    """The lines that a resident shell was asked, each framed like a command."""
    return [decoded(m) for m in re.findall(r"""\(eval "\$\(printf %b '([^']*)'\)"\)""", stdin)]


def recorded(folder):
    """[(line, stdin)] of the program's own commands on a node; others' are not framed."""
    found = []
    for file in sorted(pathlib.Path(folder).glob("*.argv")):
        argv = file.read_bytes().decode().split("\0")[:-1]
        stdin = file.with_suffix(".stdin").read_bytes().decode("utf-8", "replace")
        line = line_of(argv)
        if line is not None:
            found.append((line, stdin))
    return found


def all_recorded(pairs):
    for pair in pairs:
        node, folder = pair.split("=", 1)
        commands = recorded(folder)
        if not commands:
            problems.append(f"nothing was recorded on {node}")
        for line, stdin in commands:
            yield node, line, stdin


def matches(plan, call):
    """Captured and drawn values stand in the plan as <captured: WHAT> and <drawn: WHAT>."""

    def same(want, got):
        parts = re.split(r"<(?:captured|drawn)[^>]*>", want)
        return re.fullmatch(".+".join(map(re.escape, parts)), got) is not None

    (name, verb, variables, args), (c_name, c_verb, c_variables, c_args) = plan, call
    if (name, verb, len(variables), len(args)) != (c_name, c_verb, len(c_variables), len(c_args)):
        return False
    pairs = list(zip(sorted(variables), sorted(c_variables))) + list(zip(args, c_args))
    return all(same(want, got) for want, got in pairs)


def text(node, call):
    return f"{node}: {' '.join(sorted(call[2]))} {call[0]} {call[1]} {' '.join(call[3])}"


def run(plan_file, *pairs):
    plan = planned(plan_file)
    called, commands = set(), 0
    for node, line, stdin in all_recorded(pairs):
        commands += 1
        unpacks = "tar " in line and "verb.sh" not in line
        for one in [line] + ([] if unpacks else lines_on_stdin(stdin)):
            call = call_of(one) if "verb.sh" in one else None
            if call:
                called.add((node, call))
            elif "verb.sh" in one:
                problems.append(f"{node}: a script was called by a line that is no call: {one}")
    for node, call in sorted(called, key=str):
        if not any(p_node == node and matches(p_call, call) for p_node, p_call, _ in plan):
            problems.append(f"called and not planned: {text(node, call)}")
    for p_node, p_call, optional in plan:
        done = any(node == p_node and matches(p_call, call) for node, call in called)
        if not done and not optional:
            problems.append(f"planned and not called: {text(p_node, p_call)}")
    needed = sum(not optional for _, _, optional in plan)
    print(f"{len(plan)} planned, {needed} of them in any case; {len(called)} called, by {commands} commands")
    if len(called) < 15:
        problems.append("so few calls are no run")


def plan(plan_file, *pairs):
    wanted = {(node, call) for node, call, _ in planned(plan_file) if call and call[1] == "probe"}
    probes = set()
    for node, line, stdin in all_recorded(pairs):
        if any("verb.sh" in one for one in [line] + lines_on_stdin(stdin)):
            problems.append(f"{node}: the plan called a script: {line}")
        if line == "sh -s":
            head = stdin.split("\n")
            variables = [shlex.split(one)[0] for one in head if re.match(r"UNPLUG_[A-Z0-9_]+=", one)]
            exported = {one.split()[1] for one in head if re.match(r"export UNPLUG_", one)}
            if stdin.rstrip().endswith("probe_here"):
                probes.add((node, frozenset(v for v in variables if v.split("=")[0] in exported)))
            else:
                problems.append(f"{node}: the plan sent a script that is no probe")
        elif line not in ("exec sh",) and not line.startswith("while read -r beat"):
            problems.append(f"{node}: the plan ran: {line}")
    if probes != {(node, call[2]) for node, call in wanted} or not wanted:
        problems.append(f"probed: {sorted(map(str, probes))}, planned: {sorted(map(str, wanted))}")


def same(before, after):
    texts = [set(pathlib.Path(f).read_text().splitlines()) for f in (before, after)]
    if len(texts[0]) < 10:
        problems.append(f"so short a listing is none: {before}")
    problems.extend(f"gone: {line}" for line in sorted(texts[0] - texts[1]))
    problems.extend(f"new: {line}" for line in sorted(texts[1] - texts[0]))


{"run": run, "plan": plan, "same": same}[sys.argv[1]](*sys.argv[2:])
for problem in problems:
    print(problem)
sys.exit(1 if problems else 0)
