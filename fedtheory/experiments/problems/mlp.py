"""The multilayer perceptron: ReLU layers and softmax cross-entropy, 784-200-10 on MNIST among them.

FED-LAMB's first network, with its dropout if asked for: gradients of the training loss are biased
then. f_i is the mean loss over client i's samples. No constant is certified: no ReLU network has a
finite L.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from fedtheory import arguments, rng
from fedtheory.experiments.layers import dense, dropout, relu
from fedtheory.experiments.problems.network import accuracy, network
from fedtheory.problem import Problem
from fedtheory.typing import Number

__all__ = ["mlp", "accuracy"]


def mlp(
    X: Sequence[Any],
    y: Sequence[np.ndarray],
    hidden: Any = (200,),
    server: np.ndarray | Sequence[int | np.ndarray] | None = None,
    batch: int | None = 32,
    batch_0: int | str | None = None,
    replacement: bool = False,
    classes: int | None = None,
    weights: str | Sequence[float] | None = None,
    seed: int = 0,
    test: Sequence[np.ndarray] | None = None,
    drop: Number = 0.0,
    dtype: str = "float64",
) -> Problem:
    """Build a multilayer perceptron on the N clients' arrays, and on the server's arrays
    server=(X_0, y_0), if given.

    X[i]: (n_i, inputs), y[i]: (n_i,) classes 0, 1, ... `hidden` widths, (200,) on MNIST being
    784-200-10. Minibatches of `batch` samples (one number, or one a client; all samples if None)
    and of `batch_0` at the server. `weights`: None (equal), "samples" or N numbers. Layers are
    fc1/W (inputs, outputs by rows), fc1/b, fc2/W, ...; runs start at He's initialisation, drawn
    from `seed`. `drop` is the probability of dropout behind each hidden layer; `test` and `dtype`
    are those of `network`.

    >>> import fedtheory as ft
    >>> X, y = [[[1.0], [-1.0]], [[2.0], [-2.0]]], [[0, 1], [0, 1]]
    >>> problem = ft.problems.mlp(X, y, hidden=(3,), batch=2)
    >>> problem.d    # 1 * 3 + 3 weights and biases, then 3 * 2 + 2
    14
    """
    widths = [
        arguments.check_integer("hidden", width, 1)
        for width in (hidden if np.ndim(hidden) else (hidden,))
    ]
    arguments.check_fits("hidden", 4, sum(a * b for a, b in zip(widths, widths[1:])))
    between = [dropout(drop)] if drop else []
    layers = [
        each for width in widths for each in (dense(width)._replace(name="fc"), relu(), *between)
    ]
    made = network(
        layers,
        X,
        y,
        server=server,
        test=test,
        batch=batch,
        batch_0=batch_0,
        replacement=replacement,
        classes=classes,
        last="fc",
        weights=weights,
        dtype=dtype,
        seed=seed,
    )
    return replace(made, name="mlp")


MAKERS = (mlp,)


def examples() -> dict[str, Problem]:
    generator = rng.host_generator(0, "mlp example")
    X = [generator.standard_normal((n, 4)) for n in (3, 5, 4)]
    y = [generator.integers(0, 3, len(rows)) for rows in X]
    return dict(
        tiny=mlp(X[1:], y[1:], server=(X[0], y[0]), hidden=(3,), batch=2, classes=3),
        deep=mlp(
            X[1:], y[1:], hidden=(3, 2), batch=2, replacement=True, classes=3, weights="samples"
        ),
    )
