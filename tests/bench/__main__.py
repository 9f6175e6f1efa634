"""`python -m tests.bench [--quick] [--no-jax] [--no-numpy] [--width 64|32] [CASE ...]`: a table of speed ratios, peaks,
exponents and threads.

Medians of repeated runs, warm-up apart, every contender in the same process and run.
"""

import argparse
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

import numpy as np

import fedtheory as ft
from fedtheory import rng
from fedtheory.jit import jit
from fedtheory.problems._vector import add, lane_total, load, multiply_add, zero
from fedtheory.runs import running
from tests.bench import checker, crowd, expectations, jax_peers, networks
from tests.bench.cases import STEP, cases, softmax_data


def clock(program, repeats, seconds=60.0):
    """Median and interquartile range of the times after one warm-up; stops early when time is
    up."""
    program()
    times, begun = [], time.perf_counter()
    while len(times) < repeats and (len(times) < 1 or time.perf_counter() - begun < seconds):
        start = time.perf_counter()
        program()
        times.append(time.perf_counter() - start)
    return float(np.median(times)), float(np.subtract(*np.percentile(times, [75, 25])))


@dataclass
class Peaks:
    """What some cores can do, measured: an upper bound of what any program does on them."""

    flops: float  # of dgemm, a second
    bytes: float  # read from a large array, a second
    normals: float  # drawn by `rng.standard_normals` alone, a second
    sums: float  # operations a second of products added up in registers, each rounded by itself


def peaks(workers):
    matrices = [
        (np.random.rand(768, 768), np.random.rand(768, 768), np.empty((768, 768)))
        for _ in range(workers)
    ]
    arrays = [np.random.rand(2**23) for _ in range(workers)]
    rows = [np.empty((1024, 1024)) for _ in range(workers)]
    few = [np.random.rand(72) for _ in range(workers)]
    with ThreadPoolExecutor(workers) as pool:
        multiply = lambda: list(pool.map(lambda m: np.dot(m[0], m[1], out=m[2]), matrices))
        read = lambda: list(pool.map(np.sum, arrays))
        draw = lambda: list(pool.map(drawn, rows))
        sum_up = lambda: list(pool.map(added, few))
        return Peaks(
            workers * 2 * 768**3 / clock(multiply, 9)[0],
            workers * 8 * 2**23 / clock(read, 9)[0],
            workers * 2**20 / clock(draw, 9)[0],
            workers * SUMS * 8 * 8 * 2 / clock(sum_up, 9)[0],
        )


@jit
def drawn(rows):
    for step in range(len(rows)):
        rng.standard_normals(np.uint64(1), 1, step, rows[step])


SUMS = 2**20


@jit
def added(few):
    """Eight sums of eight lanes side by side, so that none waits for its last step."""
    u, eight = load(few, 64, zero(8)), zero(8)
    a, b, c, d = (
        load(few, 0, eight),
        load(few, 8, eight),
        load(few, 16, eight),
        load(few, 24, eight),
    )
    e, f, g, h = (
        load(few, 32, eight),
        load(few, 40, eight),
        load(few, 48, eight),
        load(few, 56, eight),
    )
    for _ in range(SUMS):
        a, b, c, d = (
            multiply_add(u, a, u),
            multiply_add(u, b, u),
            multiply_add(u, c, u),
            multiply_add(u, d, u),
        )
        e, f, g, h = (
            multiply_add(u, e, u),
            multiply_add(u, f, u),
            multiply_add(u, g, u),
            multiply_add(u, h, u),
        )
    return lane_total(add(add(add(a, b), add(c, d)), add(add(e, f), add(g, h))))


def best_of_jax(case, width, repeats=5):
    """(seconds, spread, label) of the fastest JAX program of a workload: each is tried once, the
    fastest three are timed."""
    programs = dict(jax_peers.every_way(case.jax, case.trials, case.ways, width))
    tried = {label: clock(program, 1, 120.0)[0] for label, program in programs.items()}
    first = sorted(tried, key=tried.get)[:3]
    timed = {label: clock(programs[label], repeats, 120.0) for label in first}
    label = min(timed, key=lambda label: timed[label][0])
    return *timed[label], label


def ratios(chosen, widths, use_numpy, quick, out):
    """For each workload: our median and spread beside what the cores can do, the best JAX program in
    each width, and NumPy, each as seconds and as a ratio to ours."""
    cores = running.thread_count()
    peak = peaks(cores)
    print(
        f"peaks of {cores} cores: dgemm {peak.flops / 1e9:.1f} Gflop/s, products added up in registers "
        f"{peak.sums / 1e9:.1f}, memory read "
        f"{peak.bytes / 1e9:.1f} GB/s, normals alone {1e9 / peak.normals:.2f} ns each; "
        "medians of five, spread = interquartile range\n",
        file=out,
    )
    for case in cases(quick):
        if case.name not in chosen:
            continue
        ours, spread = clock(case.ours(case.trials), 5)
        flops, normals = case.flops * case.trials, case.normals * case.trials
        print(f"{case.name}: {case.what}\n    law: {case.law}", file=out)
        print(
            f"    ours, float64         {ours:8.3f} s  spread {spread:.3f}   "
            f"{100 * flops / ours / peak.flops:.0f} % of dgemm, "
            f"{100 * normals / ours / peak.normals:.0f} % of normals alone, "
            f"{case.bytes * case.trials / ours / 1e9:.1f} GB/s from beyond L1",
            file=out,
            flush=True,
        )
        for width in widths:
            jax, spread, label = best_of_jax(case, width)
            print(
                f"    JAX, float{width}          {jax:8.3f} s  spread {spread:.3f}   "
                f"{jax / ours:.2f}x   {label}",
                file=out,
                flush=True,
            )
            if width == 64:
                print(reached(case, ours, jax, flops, normals, peak), file=out, flush=True)
        if use_numpy:
            scaled = clock(case.numpy(case.numpy_trials), 1)[0] * case.trials / case.numpy_trials
            print(f"    NumPy, float64        {scaled:8.1f} s  {scaled / ours:25.1f}x", file=out)


def reached(case, ours, jax, flops, normals, peak):
    """Whether the target is, and how far anybody could come on these cores."""
    least = flops / max(peak.flops, peak.sums) + normals / peak.normals
    return (
        f"    target {case.target:g}x: {'reached' if jax / ours >= case.target else 'not reached'}; its "
        f"products at the faster of both peaks and its normals alone take {least:.3f} s, {jax / least:.1f}x"
    )


def exponents(out):
    """The slope of log time in log size, from a size and its double: 1 is linear."""
    base = dict(trials=8, rounds=100, N=50, K=20, d=200)
    print("\ncost grows as (exponent of time in each size, others fixed):", file=out)
    for name in base:
        times = []
        for factor in (2, 4):
            n = dict(base, **{name: base[name] * factor})
            problem = ft.problems.quadratic(n["d"], n["N"], L=1.0, mu=0.1, G=1.0, sigma=1.0, seed=1)
            program = lambda: ft.run(
                problem,
                "fsl",
                rounds=n["rounds"],
                trials=n["trials"],
                K=n["K"],
                K_0=1,
                metrics=(),
                **STEP,
            )
            times.append(clock(program, 5)[0])
        print(
            f"  {name:8s}{np.log(times[1] / times[0]) / np.log(2):6.2f}   ({times[0]:.3f} s, {times[1]:.3f} s)",
            file=out,
            flush=True,
        )


def scaling(out):
    """Two workers against one: blocks of many trials, the clients of a single trial, and one client's
    Hessian or minibatch, or the server's."""
    dense = ft.problems.quadratic(
        100, 50, L=1.0, mu=0.1, G=1.0, sigma=1.0, seed=1, hessian="own_dense"
    )
    X, y = softmax_data()
    softmax = ft.problems.softmax(
        X[1:], y[1:], server=(X[0], y[0]), ridge=1e-3, noise="minibatch", batch=20
    )
    large = ft.problems.quadratic(1000, 3, L=1.0, mu=0.1, G=1.0, sigma=1.0, hessian="own_dense")
    X, y = softmax_data(784, 600, 11)
    wide = {
        batch: ft.problems.softmax(
            X[1:], y[1:], server=(X[0], y[0]), ridge=1e-3, noise="minibatch", batch=batch
        )
        for batch in (64, 256)
    }
    given = dict(metrics=(), trials=1, rounds=300)
    jobs = {
        "FSL, 64 trials": lambda w: ft.run(
            dense, "fsl", rounds=200, trials=64, S=10, K=10, K_0=10, metrics=(), workers=w, **STEP
        ),
        "softmax, 1 trial": lambda w: ft.run(
            softmax, "fedavg", rounds=200, K=20, eta_l=0.05, metrics=(), workers=w
        ),
        "one client, d=1000": lambda w: ft.run(
            large, "fedavg", S=1, K=40, eta_l=0.02, workers=w, **given
        ),
        "one client, B=64": lambda w: ft.run(
            wide[64], "fedavg", S=1, K=40, eta_l=0.02, workers=w, **given
        ),
        "one client, B=256": lambda w: ft.run(
            wide[256], "fedavg", S=1, K=20, eta_l=0.02, workers=w, **given
        ),
        "FSL, server's B=256": lambda w: ft.run(
            wide[256], "fsl", S=2, K=5, K_0=20, workers=w, **STEP, **given
        ),
    }
    print("\ntwo workers against one:", file=out)
    for name, job in jobs.items():
        one, two = (clock(lambda: job(w), 5)[0] for w in (1, 2))
        print(f"  {name:20s}{one / two:5.2f}x   ({one:.3f} s, {two:.3f} s)", file=out, flush=True)


def own_gradients(out):
    """What a step costs whose gradient is a Python function, over that function: as it comes, and
    with everything interpreted."""
    print("\na step with a gradient of one's own, over that gradient:", file=out)

    def squares(x, batch):
        A, y = batch
        gap = A @ x - y
        return gap @ gap / 2, A.T @ gap

    for d, calls in ((10, 2000), (256, 1000), (10_000, 300)):
        clients = [(np.ones((5, d)) / d, np.ones(5)) for _ in range(5)]
        problem = ft.problems.from_function(squares, clients, np.zeros(d), batch=None)
        alone = (
            clock(lambda: [squares(np.zeros(d), clients[0]) for _ in range(calls)], 3)[0] / calls
        )
        for name in ("fedavg", "scaffold"):
            taken = [
                clock(
                    lambda: ft.run(
                        problem,
                        name,
                        rounds=steps // 25,
                        K=5,
                        eta_l=0.1,
                        metrics=(),
                        workers=1,
                        compiled=compiled,
                    ),
                    3,
                )[0]
                / steps
                for compiled, steps in ((None, 500), (False, 500 if d < 1000 else 25))
            ]
            print(
                f"  d = {d:6d}  {name:10s}{taken[0] / alone:7.1f}x   all interpreted "
                f"{taken[1] / alone:7.1f}x   (gradient {alone * 1e6:.0f} us)",
                file=out,
                flush=True,
            )


STARTS = {
    "import fedtheory": "import fedtheory",
    "a small ft.run, cached": """
import fedtheory as ft
p = ft.problems.quadratic(8, 10, L=1.0, mu=0.1, G=1.0, sigma=1.0)
ft.run(p, "fsl", rounds=50, trials=8, K=5, K_0=5, eta_l=0.02, eta_0=0.02)""",
    "every claim loaded": "from fedtheory import discover; discover.claims()",
}


def starts(out):
    """What a user waits for in a new process, Python's own start included."""
    print("\na new process:", file=out)
    for name, code in STARTS.items():
        seconds, _ = clock(lambda: subprocess.run([sys.executable, "-c", code], check=True), 5)
        print(f"  {name:26s}{seconds:6.2f} s", file=out, flush=True)


CASES = (
    "a",
    "b",
    "c1",
    "c2",
    *("growth", "cores", "crowd", "expected", "own", "networks", "load", "check"),
)


def main():
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("cases", nargs="*", help=f"{', '.join(CASES)}; all by default")
    parser.add_argument("--quick", action="store_true", help="a tenth of the rounds")
    parser.add_argument("--no-jax", action="store_true")
    parser.add_argument("--no-numpy", action="store_true")
    parser.add_argument(
        "--width", type=int, choices=(64, 32), help="of JAX's floats; both by default"
    )
    arguments = parser.parse_args()
    chosen = set(arguments.cases or CASES)
    if chosen & {"a", "b", "c1", "c2"}:
        widths = (64, 32) if arguments.width is None else (arguments.width,)
        widths = () if arguments.no_jax else widths
        ratios(chosen, widths, not arguments.no_numpy, arguments.quick, sys.stdout)
    for name, part in (
        ("growth", exponents),
        ("cores", scaling),
        ("crowd", crowd.table),
        ("expected", expectations.table),
        ("own", own_gradients),
        ("networks", partial(networks.table, quick=arguments.quick)),
        ("load", starts),
        ("check", checker.table),
    ):
        if name in chosen:
            part(sys.stdout)


if __name__ == "__main__":
    main()
