"""`python -m tests.bench.networks [NAME ...]`: networks beside PyTorch, float32, one thread each.

Same work, in one process, in seconds of its processor: steps of SGD on minibatches drawn anew, and whole rounds of ten clients
with five steps each. Medians, ours and PyTorch's by turns; flops against this machine's sgemm.
Needs `pip install -e .[torch]`.
"""

import copy
import sys
import time
from math import prod

import numpy as np
import torch
from threadpoolctl import threadpool_limits
from torch import nn

import fedtheory as ft
from fedtheory.network import planned

BATCH = {"mnist_mlp": 32, "mnist_2nn": 32, "fsl_emnist": 50, "fsl_cifar": 50}
CLIENTS, STEPS, SAMPLES = 10, 5, 100


def modules(record):
    """The same network as PyTorch's users write it."""
    layers, shape, made, flat = record.layers(record.classes), record.shape, [], False
    for layer, fitted in zip(layers, planned(layers, shape)[1]):
        s = fitted.sizes
        if layer.name == "conv":
            made.append(nn.Conv2d(s[2], s[8], s[3], s[4], s[5]))
        elif layer.name == "pool":
            made.append(nn.MaxPool2d(s[3]))
        elif layer.name == "dropout":
            made.append(nn.Dropout(fitted.numbers[0]))
        elif layer.name == "relu":
            made.append(nn.ReLU())
        else:
            made += [] if flat else [nn.Flatten()]
            flat = True
            made.append(nn.Linear(prod(shape), fitted.shape[0]))
        shape = fitted.shape
    return nn.Sequential(*made)


def flops(record, batch):
    """Of one step, products of matrices alone: forward, and back to weights and to inputs."""
    layers, shape, total, first = record.layers(record.classes), record.shape, 0.0, True
    for layer, fitted in zip(layers, planned(layers, shape)[1]):
        if fitted.parameters:
            s, weights = fitted.sizes, fitted.parameters[0].size
            places = s[6] * s[7] if layer.name == "conv" else 1
            total += (2 if first else 3) * 2.0 * batch * places * weights
            first = False
    return total


def data(record):
    generator = np.random.default_rng(0)
    X = generator.random((CLIENTS, SAMPLES, *record.shape), dtype=np.float32)
    return X, generator.integers(0, record.classes, (CLIENTS, SAMPLES))


def ours(name, clients, steps):
    record = ft.networks[name]
    X, y = data(record)
    problem = ft.problems.network(
        name,
        [*X[:clients]],
        [*y[:clients]],
        classes=record.classes,
        batch=BATCH[name],
        dtype="float32",
    )
    settings = dict(rounds=1, K=steps, eta_l=0.01, metrics=(), workers=1)
    return lambda: ft.run(problem, "fedavg", **settings)


def theirs(name, clients, steps):
    """FedAvg as a loop over clients, on one model that takes the server's weights each time."""
    record, batch = ft.networks[name], BATCH[name]
    X, y = data(record)
    X, y = torch.tensor(X[:clients]), torch.tensor(y[:clients])
    X = X.permute(0, 1, 4, 2, 3).contiguous() if X.dim() == 5 else X
    model, loss = modules(record), nn.CrossEntropyLoss()
    optimiser = torch.optim.SGD(model.parameters(), lr=0.01)

    def program():
        start = copy.deepcopy(model.state_dict())
        mean = {key: torch.zeros_like(value) for key, value in start.items()}
        for i in range(clients):
            model.load_state_dict(start)
            for _ in range(steps):
                rows = torch.randperm(SAMPLES)[:batch]
                optimiser.zero_grad()
                loss(model(X[i][rows]), y[i][rows]).backward()
                optimiser.step()
            for key, value in model.state_dict().items():
                mean[key] += value / clients
        model.load_state_dict(mean)

    return program


def medians(programs, repeats):
    """By turns, so that a busy machine slows all alike."""
    times = [[] for _ in programs]
    for turn in range(repeats + 2):
        for program, found in zip(programs, times):
            begun = time.process_time()
            program()
            if turn > 1:
                found.append(time.process_time() - begun)
    return [float(np.median(found)) for found in times]


def main(names):
    torch.set_num_threads(1)
    with threadpool_limits(1, "blas"):
        A, C = np.random.rand(768, 768).astype(np.float32), np.empty((768, 768), np.float32)
        print(f"{'':12s}{'what':24s}{'ours ms':>9s}{'PyTorch':>9s}{'ratio':>7s}{'of sgemm':>10s}")
        for name in names:
            small = len(ft.networks[name].shape) == 1
            for what, clients, steps in (
                ("step", 1, 40 if small else 4),
                ("round", CLIENTS, STEPS),
            ):
                mine, other, peak = medians(
                    [
                        ours(name, clients, steps),
                        theirs(name, clients, steps),
                        lambda: np.dot(A, A, out=C),
                    ],
                    21 if small else 7,
                )
                share = flops(ft.networks[name], BATCH[name]) * clients * steps / mine
                per = steps if what == "step" else 1
                told = what if what == "step" else f"{CLIENTS} clients, {STEPS} steps"
                print(
                    f"{name:12s}{told:24s}{1e3 * mine / per:9.2f}{1e3 * other / per:9.2f}"
                    f"{other / mine:7.2f}{100 * share / (2 * 768**3 / peak):9.0f}%",
                    flush=True,
                )


if __name__ == "__main__":
    main(sys.argv[1:] or [*BATCH])
