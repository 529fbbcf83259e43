"""What the end-to-end tests ask of a run's folder. Nothing of the product is used to read it.

  bundle.py whole RUN SCENARIO TARGET     the folder is complete and hangs together
  bundle.py failing RUN NAME...           exactly these findings fail
  bundle.py witness RUN NAME TEXT         a finding has a witness whose line in the journal has TEXT
  bundle.py caught RUN CHECK WITNESS [CHECK...]
                                          exactly these checks fail, and a witness of the first one
                                          shows the item, process or file
  bundle.py passed RUN                    all findings pass, all faults are confirmed
  bundle.py cannot_tell RUN               what answers to faults cannot tell, what must always hold does
  bundle.py confirmed RUN yes|no          every fault is confirmed, or none is
  bundle.py events RUN KIND KEY=VALUE...  prints the data of the events that match, a line each

Exit 1 and a line for each thing that is not so.
"""

import hashlib
import json
import pathlib
import re
import sys
import xml.etree.ElementTree

problems = []


def expect(good, text):
    if not good:
        problems.append(text)
    return good


def sha(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def events(run, file="journal.jsonl"):
    return [json.loads(line) for line in (run / file).read_bytes().splitlines()]


def chain(file):
    """Each line names its predecessor's hash; the last line is whole."""
    data = file.read_bytes()
    expect(data.endswith(b"\n"), f"{file}: the last line is not whole")
    before, last_t = "0" * 64, 0
    for number, line in enumerate(data.splitlines(), 1):
        event = json.loads(line)
        expect(event["seq"] == number, f"{file}: line {number} has seq {event['seq']}")
        expect(event["prev"] == before, f"{file}: line {number} does not follow from its predecessor")
        expect(event["t"] >= last_t, f"{file}: line {number} goes back in time")
        before, last_t = hashlib.sha256(line).hexdigest(), event["t"]
    expect(number > 20, f"{file}: only {number} lines")


def captured(run, all_events):
    """Every file that the journal refers to is there, with the bytes it says."""
    logs = [e["data"] for e in all_events if e["kind"] == "file" and e["data"]["ref"]]
    for file in logs:
        path = run / file["ref"]
        if expect(path.is_file(), f"{file['ref']} was not captured"):
            expect(sha(path) == file["sha"], f"{file['ref']} has other bytes than the journal says")
            expect(path.stat().st_size == file["size"], f"{file['ref']} has another size")
    names = {file["ref"].rsplit("/", 1)[-1] for file in logs}
    for seat in (s["seat"] for s in all_events[0]["data"]["seats"] if s["seat"].startswith("worker-")):
        wanted = f"logs.worker.{seat}.log"
        expect(wanted in names, f"{wanted} is not among the captured files: {sorted(names)}")
    for log in (run / "files").glob("*/logs.worker.*.log"):
        expect("published" in log.read_text() or "claimed" in log.read_text(), f"{log} says nothing")


def junit(run, result):
    suite = xml.etree.ElementTree.parse(run / "junit.xml").getroot().find("testsuite")
    cases = suite.findall("testcase")
    expect(int(suite.get("tests")) == len(cases), "junit.xml: another number of cases than it says")
    wanted = 1 + len(result["faults"]) + len(result["findings"])
    expect(len(cases) == wanted, f"junit.xml has {len(cases)} cases, not {wanted}")
    fails = [f["name"] for f in result["findings"] if f["says"] == "fail"]
    shown = [c.get("name").split(" ", 1)[1] for c in cases if c.find("failure") is not None]
    expect(shown == fails, f"junit.xml: failures {shown}, result.json: {fails}")
    expect(int(suite.get("failures")) == len(fails), "junit.xml: another number of failures")


def whole(run, scenario, target):
    result = json.loads((run / "result.json").read_text())
    chain(run / "journal.jsonl")
    chain(run / "baseline" / "journal.jsonl")
    all_events = events(run)
    opened, closed = all_events[0], all_events[-1]
    expect(opened["kind"] == "run_opened", "the journal does not begin with run_opened")
    expect(closed["kind"] == "run_closed", "the journal does not end with run_closed")
    expect(opened["data"]["run"] == run.name, "run_opened names another run")
    for copy, original in (("scenario.json", scenario), ("target.json", target)):
        expect(sha(run / copy) == sha(pathlib.Path(original)), f"{copy} is no copy of {original}")
    hashes = opened["data"]["hashes"]
    expect(sha(run / "scenario.json") == hashes["scenario"], "the scenario's hash is another")
    expect(sha(run / "lab.json") == hashes["lab"], "the lab's hash is another")
    lab = json.loads((run / "lab.json").read_text())
    seats = {seat["node"] for seat in opened["data"]["seats"]}
    expect(seats <= {node["name"] for node in lab["nodes"]}, "a seat on no node of lab.json")
    for injector in hashes["injectors"]:
        expect((run / "injectors" / f"{injector}.json").is_file(), f"no copy of {injector}")
    seqs = {event["seq"] for event in all_events}
    for one in result["faults"] + result["findings"]:
        own = [w["seq"] for w in one["witnesses"] if not w.get("journal")]
        expect(set(own) <= seqs, f"{one}: a witness that is not in the journal")
    captured(run, all_events)
    junit(run, result)


def finding(run, name):
    result = json.loads((run / "result.json").read_text())
    found = [f for f in result["findings"] if f["name"] == name]
    expect(len(found) == 1, f"{len(found)} findings are called {name}")
    return found[0] if found else {"witnesses": []}


def failing(run, *names):
    result = json.loads((run / "result.json").read_text())
    fails = [f["name"] for f in result["findings"] if f["says"] == "fail"]
    expect(fails == list(names), f"these fail: {fails}, not {list(names)}: {result['findings']}")


def witness(run, name, text):
    by_seq = {event["seq"]: json.dumps(event["data"]) for event in events(run)}
    own = [w["seq"] for w in finding(run, name)["witnesses"] if not w.get("journal")]
    lines = [by_seq[seq] for seq in own]
    expect(any(text in line for line in lines), f"no witness of {name} has {text}: {lines}")


# docs/semantics.md, Invariants and responses.
INVARIANTS = {"conservation", "exclusive_claim", "output", "command"}

# What names such a thing in a witness's text.
NAMES = {
    "item": r"\b(shot-[0-9]+)\b",
    "process": r"\bpid ([0-9]+)\b",
    "file": r"\b([^ ]+[.](?:mp4|part))\b",
}


def named(run, finding, kind):
    """The things that the finding's witnesses name, each on a line of the journal that has it too."""
    lines = {"": {e["seq"]: e["data"] for e in events(run)}}
    lines["baseline"] = {e["seq"]: e["data"] for e in events(run / "baseline")}
    names = set()
    for one in finding["witnesses"]:
        line = lines[one.get("journal", "")][one["seq"]]
        # Of an item that is lost, a look at all items is the witness: it is not among them.
        looked = kind == "item" and line.get("scope") == "items"
        names |= {name for name in re.findall(NAMES[kind], one["text"]) if looked or name in json.dumps(line)}
    return names


def caught(run, check, kind, *also):
    findings = json.loads((run / "result.json").read_text())["findings"]
    fails = [f["check"] for f in findings if f["says"] == "fail"]
    expect(sorted(fails) == sorted([check, *also]), f"these fail: {fails}, not {[check, *also]}: {findings}")
    for one in findings:
        # What answers to the faults may honestly be unable to tell of a farm as wrong as that.
        wanted = {"fail", "pass"} if one["check"] in INVARIANTS else {"fail", "pass", "cannot_tell"}
        expect(one["says"] in wanted, f"{one['name']} says {one['says']}: {one}")
        if one["check"] == check:
            expect(named(run, one, kind), f"no witness of {check} shows the {kind}: {one['witnesses']}")
    confirmed(run, "yes")


def passed(run):
    result = json.loads((run / "result.json").read_text())
    expect(result["verdict"] == "pass", f"the verdict is {result['verdict']}: {result['why']}")
    for finding in result["findings"]:
        expect(finding["says"] == "pass", f"{finding['name']} says {finding['says']}: {finding}")
    expect(len(result["findings"]) > 0, "nothing was asked")
    confirmed(run, "yes")


def cannot_tell(run):
    findings = json.loads((run / "result.json").read_text())["findings"]
    for finding in findings:
        wanted = "pass" if finding["check"] in INVARIANTS else "cannot_tell"
        expect(finding["says"] == wanted, f"{finding['name']} says {finding['says']}, not {wanted}: {finding}")
    expect(any(f["check"] not in INVARIANTS for f in findings), "nothing answers to the fault")


def confirmed(run, word):
    faults = json.loads((run / "result.json").read_text())["faults"]
    expect(len(faults) > 0, "the result has no fault")
    for fault in faults:
        expect(fault["confirmed"] == (word == "yes"), f"confirmed is {fault['confirmed']}: {fault}")


def show(run, kind, *pairs):
    for event in events(run):
        data = event["data"]
        wanted = [pair.split("=", 1) for pair in pairs]
        if event["kind"] == kind and all(str(data.get(k)) == v for k, v in wanted):
            print(json.dumps(data))


WHAT = {
    "whole": whole,
    "failing": failing,
    "witness": witness,
    "caught": caught,
    "passed": passed,
    "cannot_tell": cannot_tell,
    "confirmed": confirmed,
    "events": show,
}
WHAT[sys.argv[1]](pathlib.Path(sys.argv[2]), *sys.argv[3:])
for problem in problems:
    print(problem)
sys.exit(1 if problems else 0)
