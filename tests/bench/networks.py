"""`python -m tests.bench networks`: networks beside PyTorch, float32, one thread each.

Same work, in one process, in seconds of its processor: steps of SGD on minibatches drawn anew, and whole rounds of ten clients
with five steps each. Every PyTorch program of torch_peers.py is tried; the plain loop and the fastest of the others go by turns
with ours, so that a busy machine slows all alike: medians and interquartile ranges. Flops, of a plain convolution, beside
this machine's sgemm, the faster of NumPy's and PyTorch's. `python -m tests.bench.networks [NAME ...]` takes some networks.
Needs `pip install -e .[torch]`.
"""

import importlib.util
import sys
import time

import numpy as np
from threadpoolctl import threadpool_limits

import fedtheory as ft
from fedtheory.experiments.network import plan_layers

BATCH = {"mnist_mlp": 32, "mnist_2nn": 32, "fsl_emnist": 50, "fsl_cifar": 50}
CLIENTS, STEPS, SAMPLES = 10, 5, 100
SIZE = 768  # of the square matrices that say what sgemm does
ASKED = {("mnist_mlp", "step"): 1.5, ("mnist_mlp", "round"): 2, ("fsl_emnist", "round"): 2}


def flops(record, batch):
    """Of one step, products of matrices alone: forward, and back to weights and to inputs."""
    layers, shape, total, first = record.layers(record.classes), record.shape, 0.0, True
    for layer, fitted in zip(layers, plan_layers(layers, shape)[1]):
        if fitted.parameters:
            s, weights = fitted.sizes, fitted.parameters[0].size
            places = s[6] * s[7] if layer.name == "conv" else 1
            total += (2 if first else 3) * 2.0 * batch * places * weights
            first = False
    return total


def data(record, clients):
    generator = np.random.default_rng(0)
    X = generator.random((CLIENTS, SAMPLES, *record.shape), dtype=np.float32)
    return X[:clients], generator.integers(0, record.classes, (CLIENTS, SAMPLES))[:clients]


def ours(record, X, y, steps, batch, rounds):
    common = dict(classes=record.classes, batch=batch, dtype="float32")
    problem = ft.problems.network(record.name, [*X], [*y], **common)
    settings = dict(rounds=rounds, K=steps, eta_l=0.01, metrics=(), workers=1)
    return lambda: ft.run(problem, "fedavg", **settings)


def products():
    """{label: program} of sgemm."""
    import torch

    A, C = np.random.rand(SIZE, SIZE).astype(np.float32), np.empty((SIZE, SIZE), np.float32)
    B, D = torch.rand(SIZE, SIZE), torch.empty(SIZE, SIZE)
    return {"NumPy": lambda: np.dot(A, A, out=C), "PyTorch": lambda: torch.mm(B, B, out=D)}


def seconds(program):
    begun = time.process_time()
    program()
    return time.process_time() - begun


def repeated(program, times):
    """A run of some rounds, of a program of one."""

    def rounds():
        for _ in range(times):
            program()

    return rounds


def by_turns(programs, repeats):
    """{label: (median, interquartile range) in seconds of the processor}."""
    times = {label: [] for label in programs}
    for _ in range(repeats):
        for label, program in programs.items():
            times[label].append(seconds(program))
    return {
        label: (float(np.median(each)), float(np.subtract(*np.percentile(each, [75, 25]))))
        for label, each in times.items()
    }


def fastest(programs, count, out):
    """Those that take the least, of one look each after another that is not counted."""
    tried = {}
    for label, program in programs.items():
        begun = time.perf_counter()
        program()
        tried[label] = seconds(program)
        if "compile" in label:
            print(
                f"    {label}: ready after {time.perf_counter() - begun:.1f} s",
                file=out,
                flush=True,
            )
    return {label: programs[label] for label in sorted(tried, key=tried.__getitem__)[:count]}


def compared(name, what, quick, out):
    """One network's steps, or round, beside every PyTorch program of them."""
    from tests.bench import torch_peers

    record, batch = ft.networks[name], BATCH[name]
    small = len(record.shape) == 1
    clients, steps = (CLIENTS, STEPS) if what == "round" else (1, 40 if small else 4)
    rounds = 4 if small and what == "round" else 1  # what a run is begun with is a part of it
    work = (record, *data(record, clients), steps, batch)
    told = f"{clients} clients, {steps} steps, batch {batch}, {rounds} rounds a run"
    print(f"{name}, {what}: {told}", file=out)
    peers = torch_peers.every_way(*work, compiled=not quick)
    peers = {label: repeated(program, rounds) for label, program in peers.items()}
    mine = ours(*work, rounds)
    plain = {label: peers.pop(label) for label in [torch_peers.PLAIN]}
    chosen = {"ours": mine, **plain, **fastest(peers, 1 if quick else 3, out)}
    for program in (mine, *plain.values()):  # warm
        program()
    repeats = (21 if small else 7) if not quick else 3
    found = by_turns({**chosen, **products()}, repeats)
    peak = 2 * SIZE**3 / min(found.pop(label)[0] for label in products())
    each, own = (steps if what == "step" else rounds), found["ours"][0]
    best = min((label for label in found if label != "ours"), key=lambda label: found[label][0])
    for label, (median, spread) in found.items():
        share = flops(record, batch) * clients * steps * rounds / median / peak
        marks = "" if label == "ours" else f"{median / own:7.2f}x{'  the peer' * (label == best)}"
        print(
            f"    {label:34s}{1e3 * median / each:9.2f} ms  spread {1e3 * spread / each:7.2f}"
            f"{100 * share:5.0f} % of sgemm{marks}",
            file=out,
            flush=True,
        )
    asked = ASKED.get((name, what))
    if asked:
        reached = "reached" if found[best][0] / own >= asked else "not reached"
        print(f"    target {asked:g}x: {reached}", file=out)


def table(out, names=tuple(BATCH), quick=False):
    if importlib.util.find_spec("torch") is None:
        print("\nnetworks beside PyTorch are left out: it needs the extra torch", file=out)
        return
    import torch

    torch.set_num_threads(1)
    print("\nnetworks beside PyTorch, float32, one thread each, by turns:", file=out)
    with threadpool_limits(1, "blas"):
        for name in names:
            for what in ("step", "round"):
                compared(name, what, quick, out)


if __name__ == "__main__":
    table(sys.stdout, sys.argv[1:] or tuple(BATCH))
