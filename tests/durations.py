"""Which tests take long, as they were last measured: what a bare `python -m pytest` leaves out, and
what begins first where all run.

    python -m pytest -m "slow or not slow" --junitxml=times.xml
    python -m tests.durations times.xml
"""

import json
import sys
import xml.etree.ElementTree as tree
from pathlib import Path

KEPT = Path(__file__).with_suffix(".json")
SLOW = 0.3  # seconds from which a test is slow
FIRST = 10.0  # seconds from which it begins before all others, so that all processes end together


def measured():
    """{name of a slow test: its seconds}."""
    return json.loads(KEPT.read_text()) if KEPT.exists() else {}


def name_of(item):
    """What pytest's report calls a collected test: its module and its name."""
    module = item.path.relative_to(item.config.rootpath).with_suffix("")
    return f"{'.'.join(module.parts)}::{item.name}"


def read(report):
    """{name: seconds} of the slow tests of a report in JUnit's XML, by name."""
    taken = {
        f"{case.get('classname')}::{case.get('name')}": float(case.get("time"))
        for case in tree.parse(report).iter("testcase")
    }
    return {name: round(taken[name], 1) for name in sorted(taken) if taken[name] >= SLOW}


if __name__ == "__main__":
    KEPT.write_text(json.dumps(read(sys.argv[1]), indent=0) + "\n")
