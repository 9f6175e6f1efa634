"""The multilayer perceptron: ReLU layers and softmax cross-entropy, 784-200-10 on MNIST among them.

The network of FED-LAMB's first experiment, without its dropout (which would make gradients of the
training loss biased). f_i is the mean loss over client i's samples. No constant is certified: no
ReLU network has a finite L.
"""

from typing import NamedTuple

import numpy as np

from fedtheory import arguments, rng
from fedtheory.errors import refuse
from fedtheory.jit import jit
from fedtheory.problem import Problem, layers_from
from fedtheory.problems import _samples
from fedtheory.problems._layers import (
    ROWS,
    affine,
    affine_back,
    affine_grad,
    cross_entropy,
    he_normal,
    labels_of,
    matrix,
    network_kernels,
    relu,
    relu_back,
)

__all__ = ["mlp", "accuracy"]


class Data(NamedTuple):
    X: np.ndarray  # (n, inputs)
    y: np.ndarray  # (n,)
    starts: np.ndarray  # (N + 2,) where each client's rows begin
    widths: np.ndarray  # (layers + 1,) inputs, hidden widths, classes
    at: np.ndarray  # (layers,) where a layer's W begins in x


@jit
def forward(data, x, X, units):
    """The logits; `units` receives every layer's outputs, one after the other."""
    A, used, last = X, 0, data.at.size - 1
    for l in range(last + 1):
        Z = matrix(units, used, X.shape[0], data.widths[l + 1])
        affine(x, data.at[l], A, Z)
        if l < last:
            relu(Z)
        used += Z.size
        A = Z
    return A


@jit
def sweep(data, x, X, y, scale, out):
    n, layers = X.shape[0], data.at.size
    wide = 0
    for l in range(layers):
        wide += data.widths[l + 1]
    units = np.empty(n * wide)
    D = forward(data, x, X, units)
    total = cross_entropy(D, y, scale)  # D is now the gradient with respect to the logits
    if out.size > 0:
        used = n * (wide - data.widths[layers])
        for l in range(layers - 1, 0, -1):
            used -= n * data.widths[l]
            A = matrix(units, used, n, data.widths[l])
            affine_grad(data.at[l], A, D, out)
            D = affine_back(x, data.at[l], D, data.widths[l])
            relu_back(A, D)
        affine_grad(data.at[0], X, D, out)
    return total


KERNELS = network_kernels(sweep)


def mlp(
    X,
    y,
    hidden=(200,),
    server=None,
    batch=32,
    batch_0=None,
    replacement=False,
    classes=None,
    weights=None,
    seed=0,
):
    """A multilayer perceptron on the N clients' arrays, and server=(X_0, y_0)'s where it has some.

    X[i]: (n_i, inputs), y[i]: (n_i,) classes 0, 1, ... `hidden` widths, (200,) on MNIST being
    784-200-10. Minibatches of `batch` samples (one number, or one a client; all samples if None)
    and of `batch_0` at the server. `weights`: None (equal), "samples" or N numbers. Layers are
    fc1/W (inputs, outputs by rows), fc1/b, fc2/W, ...; runs start at He's initialisation, drawn
    from `seed`.

    >>> import fedtheory as ft
    >>> X, y = [[[1.0], [-1.0]], [[2.0], [-2.0]]], [[0, 1], [0, 1]]
    >>> problem = ft.problems.mlp(X, y, hidden=(3,), batch=2)
    >>> problem.d    # 1 * 3 + 3 weights and biases, then 3 * 2 + 2
    14
    """
    X, y = _samples.arrays(X, y, server)
    replacement = arguments.flag("replacement", replacement)
    labels, classes = labels_of(y, classes)
    hidden = [
        arguments.whole("hidden", width, 1) for width in (hidden if np.ndim(hidden) else (hidden,))
    ]
    sizes = _samples.sizes_of(X)
    noise, sigmas, batches = _samples.noise_of(
        "minibatch", 0.0, 0.0, batch, batch_0, replacement, sizes
    )
    rows, starts = _samples.stack(X, X[1].shape[1])
    widths = [X[1].shape[1], *hidden, classes]
    arguments.fits(
        "hidden", 4, sum(inputs * outputs + outputs for inputs, outputs in zip(widths, widths[1:]))
    )
    generator = rng.host(seed, "mlp")
    blocks, layers = [], []
    for n, (inputs, outputs) in enumerate(zip(widths, widths[1:]), 1):
        blocks.append(he_normal(generator, inputs, outputs))
        layers += [(f"fc{n}/W", inputs * outputs), (f"fc{n}/b", outputs)]
    at = np.cumsum([0] + [block.size for block in blocks], dtype=np.int64)
    data = Data(rows, labels, starts, np.array(widths, dtype=np.int64), at[:-1].copy())
    return Problem(
        "mlp",
        data,
        KERNELS,
        len(X) - 1,
        int(at[-1]),
        _samples.weights_of(weights, sizes),
        {},
        has_server=X[0] is not None,
        sizes=sizes,
        noise=noise,
        sigma=sigmas,
        batch_size=batches,
        replacement=replacement,
        layers=layers_from(layers, at[-1]),
        start=np.concatenate(blocks),
        blas=True,
    )


def accuracy(problem, x, X, y):
    """The fraction of rows of X whose largest logit is that of label y; ties count as the first."""
    inputs, x = int(problem.data.widths[0]), problem._point(x)
    X, y = np.ascontiguousarray(X, dtype=np.float64), np.asarray(y)
    if X.ndim != 2 or X.shape[1] != inputs or len(X) < 1:
        refuse("X", f"must have shape (n, {inputs}) with n >= 1", X.shape)
    if y.shape != (len(X),):
        refuse("y", f"must have shape ({len(X)},)", y.shape)
    if not np.all(np.isfinite(x)):
        refuse("x", "must be finite", x)
    right = 0
    for low in range(0, len(X), ROWS):
        block = X[low : low + ROWS]
        logits = forward(
            problem.data, x, block, np.empty(len(block) * int(problem.data.widths[1:].sum()))
        )
        right += int(np.sum(np.argmax(logits, axis=1) == y[low : low + ROWS]))
    return right / len(X)


MAKERS = (mlp,)


def examples():
    generator = rng.host(0, "mlp example")
    X = [generator.standard_normal((n, 4)) for n in (3, 5, 4)]
    y = [generator.integers(0, 3, len(rows)) for rows in X]
    return dict(
        tiny=mlp(X[1:], y[1:], server=(X[0], y[0]), hidden=(3,), batch=2, classes=3),
        deep=mlp(
            X[1:], y[1:], hidden=(3, 2), batch=2, replacement=True, classes=3, weights="samples"
        ),
    )
