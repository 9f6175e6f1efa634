"""What exact expectations cost: shared bases, with the ratio of methods with memories to FedAvg, and
own dense Hessians for every method that has moments there."""

import os
import subprocess
import sys
import time

import fedtheory as ft
from fedtheory import discover
from fedtheory.algorithm import example_hyper
from fedtheory.errors import NotExact

LONGEST = 300.0  # seconds after which a method is given up
SHARED: tuple = (
    ("fedavg", {}),
    ("fsl", dict(K_0=10, eta_0=0.01)),
    ("scaffold", {}),
    ("feddyn", dict(alpha=0.1)),
)


def problem(hessian, N):
    return ft.problems.quadratic(
        100, N, L=1.0, mu=0.1, G=1.0, xi_bar=0.3, sigma=1.0, hessian=hessian
    )


def taken(given, name, rounds, repeats, **more):
    """Least (wall, processor's) seconds of some calls, after one that compiles."""
    found = []
    for _ in range(1 + repeats):
        begun = time.perf_counter(), time.process_time()
        ft.expected(given, name, rounds=rounds, how="moments", **more)
        found.append((time.perf_counter() - begun[0], time.process_time() - begun[1]))
    return tuple(map(min, zip(*found[1:] or found)))


def table(out):
    print("\nft.expected, N=100 S=10 K=10 d=100, 300 rounds, over FedAvg's time:", file=out)
    for hessian in ("diagonal", "dense"):
        given, first = problem(hessian, 100), None
        for name, more in SHARED:
            wall, work = taken(given, name, 300, 3, S=10, K=10, eta_l=0.01, **more)
            first = first or (wall, work)
            print(
                f"  {hessian:9s}{name:9s}{wall:6.3f} s  {wall / first[0]:5.2f}x   processor "
                f"{work:6.3f} s  {work / first[1]:5.2f}x",
                file=out,
                flush=True,
            )
    print("\nft.expected, own dense Hessians, N=50 S=10 K=10 d=100, 100 rounds:", file=out)
    for name in discover.shipped_algorithms():
        print(f"  {name:18s}{own(name)}", file=out, flush=True)


def own(name):
    """What `python -m tests.bench.expectations NAME` says, given up after a while."""
    command = [sys.executable, "-m", "tests.bench.expectations", name]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=LONGEST, env=os.environ, check=True
        )
    except subprocess.TimeoutExpired:
        return f"more than {LONGEST:.0f} s"
    return done.stdout.strip()


def said(name):
    """Seconds of one method, compiled code from the cache, or that it has no moments."""
    algorithm, given = discover.shipped_algorithms()[name], problem("own_dense", 50)
    steps = {key: 10 for key in ("K", "K_0") if key in algorithm.Hyper._fields}
    more = dict(S=50 if algorithm.everyone else 10, **{**example_hyper(algorithm), **steps})
    try:
        wall, work = taken(given, name, 100, 0, **more)
    except NotExact:
        return "no exact moments"
    return f"{wall:7.2f} s   processor {work:7.2f} s"


if __name__ == "__main__":
    print(said(sys.argv[1]))
