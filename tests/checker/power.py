"""Power: false variants of known statements, each to be refuted by a document that replays.

python -m tests.checker.power                 # 20 seconds of work each
python -m tests.checker.power --seeds 5 sgd   # those with sgd in their names, from five seeds
"""

import argparse
import json
import sys
import time

from fedtheory.errors import show
from fedtheory.terminal import Line
from fedtheory.verdicts import pipeline
from tests.checker import growing_orders, known_statements, large_cases

FALSE = {**known_statements.FALSE, **large_cases.FALSE, **growing_orders.FALSE}


def refute_claim(claim, budget, seed=0):
    """Return (verdict, whether its document replays as JSON text and states this claim)."""
    verdict = pipeline.check(claim, budget=budget, seed=seed)
    if verdict.status != "violated":
        return verdict, False
    shown = pipeline.replay(json.loads(json.dumps(verdict.certificate)))
    return verdict, shown["status"] == "violated" and shown["claim"] == claim.id


def main(arguments=None):
    parser = argparse.ArgumentParser(
        prog="python -m tests.checker.power", description=__doc__.partition("\n")[0]
    )
    parser.add_argument(
        "part", nargs="?", default="", help="only statements with this in their names"
    )
    parser.add_argument(
        "--seeds", type=int, default=1, help="how often each is tried, from another seed (1)"
    )
    parser.add_argument("--budget", type=float, default=20.0, help="seconds of work for a try (20)")
    given = parser.parse_args(arguments)
    claims = {name: claim for name, claim in FALSE.items() if given.part in name}
    if not claims:
        parser.error(f"no false statement has {show(given.part)} in its name")
    escaped, tries, line = [], 0, Line()
    report, total = line.progress("tries"), given.seeds * len(claims)
    for name, claim in claims.items():
        for seed in range(given.seeds):
            begun = time.process_time()
            verdict, replays = refute_claim(claim, given.budget, seed)
            tries += 1
            escaped += [] if replays else [(name, verdict)]
            print(
                f"{name:34s}{'refuted' if replays else 'ESCAPES':8s} {time.process_time() - begun:6.1f} s "
                f"{verdict.cases:9d} instances",
                flush=True,
            )
            report(tries, total)
    line.clear()
    print(
        f"{len(claims)} false statements: {tries - len(escaped)} of {tries} tries refuted, "
        f"{100 * (tries - len(escaped)) / max(1, tries):.1f} %"
    )
    for name, verdict in escaped:
        print(f"escapes: {name}: {claims[name]}\n    {verdict}")
    return 0 if len(escaped) <= 0.05 * tries else 1


if __name__ == "__main__":
    sys.exit(main())
