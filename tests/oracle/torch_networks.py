"""Networks against PyTorch's automatic derivatives: gradients in float64 under the same masks, and
loss curves of 100 steps from the same weights and minibatches.

PyTorch is large, so this is not among the tests that run by themselves:

    pip install -e .[torch] && python -m pytest tests/oracle/torch_networks.py
"""

from math import prod

import numpy as np
import pytest
import torch
from torch.nn import functional as F

import fedtheory as ft
from fedtheory import rng
from fedtheory.experiments.layers import cross_entropy
from fedtheory.experiments.network import plan_layers

torch.set_num_threads(1)
CASES = {  # network -> whether it is small enough for 100 steps
    "mnist_mlp": True,
    "mnist_2nn": True,
    "smiles": True,
    "fsl_emnist": False,
    "fsl_cifar": False,
    "fsl_emnist_twin": True,
    "fsl_cifar_twin": True,
    "mcmahan_cnn_twin": True,
    "lamb_mnist": True,
    "lamb_cifar": False,
    "resnet9_twin": False,
    "resnet9_groups_twin": False,
    "language_twin": True,
}


def dense(A, w, fitted, mask):
    width = fitted.shape[-1]
    if A.dim() == 3:  # at each place
        return A @ w[:-width].reshape(-1, width) + w[-width:]
    A = A.flatten(1) if A.dim() == 2 else A.permute(0, 2, 3, 1).flatten(1)
    return A @ w[: A.shape[1] * width].reshape(-1, width) + w[A.shape[1] * width :]


def conv(A, w, fitted, mask):
    _, _, channels, k, stride, pad, _, _, filters, _ = fitted.sizes
    size = k * k * channels * filters
    W = w[:size].reshape(k, k, channels, filters).permute(3, 2, 0, 1)
    return F.conv2d(A, W, w[size:], stride=stride, padding=pad)


def dropout(A, w, fitted, mask):
    if mask is None:
        return A
    mask = torch.tensor(mask.reshape(len(A), *fitted.shape), dtype=A.dtype)
    return A * (mask if mask.dim() == 2 else mask.permute(0, 3, 1, 2))


def gru(A, w, fitted, mask):
    places, inputs, H = fitted.sizes
    W, U, b, c = torch.split(w, [3 * H * inputs, 3 * H * H, 3 * H, 3 * H])
    weights = dict(
        weight_ih_l0=W.reshape(inputs, 3 * H).T,
        weight_hh_l0=U.reshape(H, 3 * H).T,
        bias_ih_l0=b,
        bias_hh_l0=c,
    )
    unit = torch.nn.GRU(inputs, H, batch_first=True, dtype=A.dtype)
    return torch.func.functional_call(unit, weights, (A,))[0]


def normalised(A, w, fitted, mask):
    scale, shift = w.chunk(2)
    if fitted.sizes[3]:
        return F.batch_norm(A, None, None, scale, shift, training=True)
    return F.group_norm(A, fitted.sizes[2], scale, shift)


SAME = dict(
    dense=dense,
    conv=conv,
    dropout=dropout,
    relu=lambda A, w, fitted, mask: torch.relu(A),
    **dict.fromkeys(
        ("pool", "second", "fourth"), lambda A, w, fitted, mask: F.max_pool2d(A, fitted.sizes[3])
    ),
    batchnorm=normalised,
    groupnorm=normalised,
    gru=gru,
    embedding=lambda A, w, fitted, mask: w.reshape(fitted.sizes)[A.long()],
)


def loss(record, x, X, y, draw=None):
    """The mean loss of a batch as PyTorch computes it, of one flat vector."""
    layers = record.layers(record.classes)
    steps, fitted, _, _ = plan_layers([*layers, cross_entropy(record.classes)], record.shape)
    A, found = X.permute(0, 3, 1, 2) if X.dim() == 4 else X, []
    for place, (layer, step, here) in enumerate(zip(layers, steps, fitted)):
        mask = None
        if layer.draws and draw is not None:
            p, mask = here.numbers[0], np.empty(len(X) * prod(here.shape))
            rng.fill_masked(draw, place, p, 1 / (1 - p), mask)
        if layer.name == "add":
            A = A + found[step.skip]
        else:
            A = SAME[layer.name](A, x[step.at : step.at + step.size], here, mask)
        found.append(A)
    return F.cross_entropy(A.flatten(0, -2), y.flatten())


def data(record, n=40):
    generator = np.random.default_rng(2)
    if record.name.startswith("language"):
        return generator.integers(0, record.classes, (2, n, *record.shape))
    return generator.random((n, *record.shape)), generator.integers(0, record.classes, n)


@pytest.mark.parametrize("name", CASES)
def test_gradients_agree_under_the_same_masks(name):
    record = ft.networks[name]
    X, y = data(record, 8)
    problem = ft.problems.network(name, [X], [y], classes=record.classes, batch=5)
    x = torch.tensor(problem.start, requires_grad=True)
    rows, draw, ours = np.array([3, 0, 7, 1, 2]), np.uint64(99), np.empty(problem.d)
    problem.kernels.batch(problem.data, 1, rows, draw, problem.start, ours)
    loss(record, x, torch.tensor(X[rows]), torch.tensor(y[rows]), draw).backward()
    theirs = x.grad.numpy()
    assert np.abs(ours - theirs).max() <= 1e-9 * np.abs(theirs).max()
    value = loss(record, x.detach(), torch.tensor(X), torch.tensor(y))
    assert problem.loss(problem.start) == pytest.approx(float(value), rel=1e-12)


@pytest.mark.parametrize("kind, within", [("float64", 1e-7), ("float32", 1e-3)])
@pytest.mark.parametrize("name", [name for name in CASES if CASES[name]])
def test_a_hundred_steps_follow_one_curve(name, kind, within):
    """Rows and masks are those of (seed, trial 0, round t, client 1, step 0)."""
    record = ft.networks[name]
    X, y = data(record)
    settings = dict(classes=record.classes, batch=10, dtype=kind)
    problem = ft.problems.network(name, [X], [y], **settings)
    run = ft.run(problem, "fedavg", rounds=100, eta_l=0.05, seed=6, metrics=["loss"])
    real = getattr(torch, kind)
    x = torch.tensor(problem.start, dtype=real, requires_grad=True)
    inputs, labels, curve = torch.tensor(X, dtype=real), torch.tensor(y), []
    for t in range(101):
        with torch.no_grad():
            curve.append(float(loss(record, x, inputs, labels)))
        key, rows = np.uint64(rng.stream_key(6, 0, t)), np.empty(10, dtype=np.int64)
        rng.draw_subset(key, 1, 0, rng.BATCH, np.arange(40), rows)
        draw = np.uint64(rng.gradient_key(key, 1, 0))
        x.grad = None
        loss(record, x, inputs[rows], labels[rows], draw).backward()
        with torch.no_grad():
            x -= 0.05 * x.grad
    gap = np.abs(run.metrics["loss"][0] - curve).max()
    assert gap <= within, gap
    assert curve[-1] < curve[0]
