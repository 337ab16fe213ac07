"""Lists the outcome of each test: of junit.xml in a directory, else of the log there that unittest wrote."""
import os
import re
import sys
from xml.etree import ElementTree

directory = sys.argv[1]
outcome = {}
junit = os.path.join(directory, "junit.xml")
if os.path.exists(junit):
    for case in ElementTree.parse(junit).iter("testcase"):
        kinds = {child.tag for child in case}
        state = "fail" if kinds & {"failure", "error"} else "skip" if "skipped" in kinds else "pass"
        name = case.get("classname") + "." + case.get("name")
        # A test that fails and whose end fails too is there twice.
        if outcome.get(name) != "fail":
            outcome[name] = state
else:
    name = None
    with open(os.path.join(directory, "log"), encoding="utf-8", errors="replace") as log:
        for line in log:
            plain = re.match(r"([\w.]+) \.\.\.", line)
            if plain:
                name = plain.group(1)
            begun = re.match(r"(\w+) \(([\w.]+)\)", line)
            if begun and not line.startswith(("FAIL", "ERROR")):
                name = begun.group(2)
                if not name.endswith("." + begun.group(1)):
                    name += "." + begun.group(1)
            ended = re.search(r"(ok|FAIL|ERROR|skipped.*|expected failure|unexpected success)\s*$", line)
            if name and ended:
                word = ended.group(1)
                state = "skip" if word.startswith("skipped") else "pass" if word in ("ok", "expected failure") else "fail"
                if outcome.get(name) != "fail":
                    outcome[name] = state
                name = None
            failed = re.match(r"(?:FAIL|ERROR): (\w+) \(([\w.]+)\)", line)
            if failed:
                full = failed.group(2)
                if not full.endswith("." + failed.group(1)):
                    full += "." + failed.group(1)
                outcome[full] = "fail"
if not outcome:
    sys.exit("no test ran")
for name in sorted(outcome):
    print(outcome[name], name)
