"""A cohort of 100 out of ever more clients: seconds a round and peak memory, each size in a process of
its own. `python -m tests.bench.crowd METHOD N` prints both for one of them."""

import json
import resource
import subprocess
import sys
import time

import numpy as np

import fedtheory as ft
from fedtheory.participation import Participation, traces

SIZES = (10**3, 10**4, 10**5, 10**6)
D, S, ROUNDS = 100, 100, 400
LOCAL = dict(eta_l=0.05, K=5)
ADAPTIVE = dict(alpha=0.01, epsilon=0.01, T=5)
METHODS = dict(
    fedavg=LOCAL,
    scaffold=LOCAL,
    feddyn=dict(LOCAL, alpha=0.5),
    fed_ams=ADAPTIVE,
    fed_lamb=dict(ADAPTIVE, momentum="kept"),
)


def once(name, N, rounds):
    problem = ft.problems.crowd(D, N, L=1.0, mu=0.1, G=1.0, sigma=0.5)
    part = Participation(work=traces.traces())
    begun = time.perf_counter()
    ft.run(problem, name, rounds=rounds, S=S, participation=part, workers=1, **METHODS[name])
    return time.perf_counter() - begun


def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def measured(name, N):
    """Seconds a round beyond the first rounds, seconds before them, and bytes beyond those of a small
    run. The longer run comes first, so that the peak is its own."""
    once(name, 2 * S, 10)
    before = peak()
    long = once(name, N, ROUNDS + 10)
    taken = peak() - before
    short = min(once(name, N, 10) for _ in range(3))
    return dict(round=(long - short) / ROUNDS, start=short, bytes=taken)


def table(out):
    print(
        f"\n{S} of N clients a round, d={D}, 5 steps, traces of flex, a process each: milliseconds a "
        f"round, and megabytes beyond a run of {2 * S} clients after {ROUNDS + 10} rounds:",
        file=out,
    )
    print(" " * 14 + "".join(f"N = 10^{np.log10(N):.0f}".rjust(18) for N in SIZES), file=out)
    for name in METHODS:
        command = [sys.executable, "-m", "tests.bench.crowd", name]
        found = [
            json.loads(subprocess.run([*command, str(N)], check=True, capture_output=True).stdout)
            for N in SIZES
        ]
        cells = [f"{1e3 * one['round']:.2f} ms {one['bytes'] / 1e6:5.0f} MB" for one in found]
        slope = np.polyfit(np.log(SIZES), np.log([one["round"] for one in found]), 1)[0]
        print(
            f"  {name:12s}{''.join(cell.rjust(18) for cell in cells)}   exponent in N {slope:.2f}",
            file=out,
            flush=True,
        )


if __name__ == "__main__":
    print(json.dumps(measured(sys.argv[1], int(sys.argv[2]))))
