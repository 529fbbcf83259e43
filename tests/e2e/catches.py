"""Which mutant is to be caught by which scenario: fixtures/farm/mutants/expected.json, read and held.

  catches.py ROOT all|some     a line for each catch: MUTANT SCENARIO CHECK WITNESS [ALSO...]

`some` is every mutant once and every scenario once, in the order of the file. Exit 1 and a line on
stderr for each mutant that is not listed, each name that is not there, and each scenario without
a mutant.
"""

import json
import pathlib
import sys

root, which = pathlib.Path(sys.argv[1]), sys.argv[2]
mutants = root / "fixtures/farm/mutants"
expected = json.loads((mutants / "expected.json").read_text())
scenarios = {path.stem for path in (root / "scenarios/farm").glob("*.json")}
problems = []


def differ(wanted, listed, text):
    problems.extend(f"{text}: {name}" for name in sorted(wanted ^ listed))


differ({path.stem for path in mutants.glob("*.sh")}, set(expected), "not both in expected.json and in mutants/")
catches = []
for mutant, caught in expected.items():
    if "test" in caught:
        if not (root / caught["test"]).is_file():
            problems.append(f"{mutant}: there is no {caught['test']}")
        continue
    if not caught:
        problems.append(f"{mutant} is caught by nobody")
    catches += [(mutant, one) for one in caught]
differ(scenarios, {one["scenario"] for _, one in catches}, "no mutant for this scenario, or no such scenario")

seen = set()
for mutant, one in catches:
    if which == "all" or not {mutant, one["scenario"]} <= seen:
        seen |= {mutant, one["scenario"]}
        print(mutant, one["scenario"], one["check"], one["witness"], *one.get("also", []))
for problem in problems:
    print(problem, file=sys.stderr)
sys.exit(1 if problems else 0)
