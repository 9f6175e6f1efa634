"""Soundness: true textbook statements, each with many seeds; a single "violated" is a bug of the checker.

    python -m verify.soundness                      # 1,000 seeds each
    python -m verify.soundness --seeds 50 sgd       # those with sgd in their names
"""

import argparse
import sys
import time

from fedtheory.checks import checking
from verify.textbook import TIGHT, TRUE, reached


def campaign(claims, seeds, budget, start=0):
    """[(name, seed, verdict)] of statements called violated, or tighter than they can be."""
    wrong = []
    for name, claim in claims.items():
        begun, cases, most = time.perf_counter(), 0, 0.0
        for seed in range(start, start + seeds):
            verdict = checking.check(claim, budget=budget, seed=seed)
            cases, most = cases + verdict.cases, max(most, verdict.tightness or 0.0)
            if verdict.status == "violated" or most > 1:
                wrong.append((name, seed, verdict))
            if sys.stdout.isatty():
                print(f"\r{name:22s}{seed + 1 - start:6d} of {seeds} seeds", end="", flush=True)
        bad = sum(1 for other, _, _ in wrong if other == name)
        print(f"\r{name:22s}{seeds:6d} seeds {cases:10d} instances  largest ratio {most:.6f}  "
              f"{f'{bad} WRONG VERDICTS' if bad else 'sound'}  {time.perf_counter() - begun:.0f} s", flush=True)
    return wrong


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m verify.soundness", description=__doc__.partition("\n")[0])
    parser.add_argument("part", nargs="?", default="", help="only statements with this in their names")
    parser.add_argument("--seeds", type=int, default=1000, help="seeds for each statement (1000)")
    parser.add_argument("--budget", type=float, default=0.02, help="seconds of work for a seed (0.02)")
    parser.add_argument("--tight", type=float, default=10.0, help="seconds of a try to find a tight one tight (10)")
    given = parser.parse_args(arguments)
    claims = {name: claim for name, claim in TRUE.items() if given.part in name}
    wrong = campaign(claims, given.seeds, given.budget)
    for name, seed, verdict in wrong:
        print(f"{name}, seed {seed}: {verdict} {verdict.witness}")
    loose = {}
    for name in claims:
        if name in TIGHT:
            found = 0.0
            for seed in range(5):
                found = max(found, reached(claims[name], 0.99, given.tight, seed))
                if found >= 0.99:
                    break
            else:
                loose[name] = found
    print(f"{len(claims)} statements, {given.seeds} seeds each: {len(wrong)} wrong verdicts; of "
          f"{len(set(TIGHT) & set(claims))} tight ones not found tight: "
          f"{', '.join(f'{name} ({found:.3f})' for name, found in loose.items()) or 'none'}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
