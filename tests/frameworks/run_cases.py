"""Program that runs inside a framework's environment and tests the framework's CASES one after the
other."""

import importlib
import json
import platform
import sys
from importlib.metadata import version

from fedtheory.conformance import conform, laws
from fedtheory.conformance.adapters import Report


def run_reports(cases):
    """Yield (description of the case, its Report) for each case in order."""
    for case in cases:
        given = (case.method, case.start, case.round, case.state, case.hyper, case.weighted)
        yield case.says, Report(conform(*given), laws(*given))


def installed_versions(pins):
    """Return {package: installed version} for the packages in the pins."""
    return {name: version(name) for name in (pin.partition("==")[0] for pin in pins)}


def main(name, as_json=False):
    module = importlib.import_module(f"tests.frameworks.{name}")
    has = dict(python=platform.python_version(), **installed_versions(module.PINS))
    if as_json:
        found = {says: report.data() for says, report in run_reports(module.CASES)}
        print(json.dumps(dict(framework=name, versions=has, cases=found), indent=1))
        return
    print(", ".join(f"{package} {number}" for package, number in has.items()))
    for says, report in run_reports(module.CASES):
        print(f"\n{says}\n{report}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1], "--json" in sys.argv[2:])
