"""A network: a list of layers on the clients' samples, in float64 or float32.

f_i is the mean loss over client i's samples, nothing dropped out; minibatch gradients drop what the
layers say, by masks that depend on (seed, trial, round, client, step) alone. No constant is
certified: no network with a ReLU has a finite L.
"""

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np

from fedtheory import arguments, rng
from fedtheory.errors import refuse
from fedtheory.experiments.layers.cross_entropy import cross_entropy
from fedtheory.experiments.layers.dense import dense
from fedtheory.experiments.layers.dropout import dropout
from fedtheory.experiments.layers.relu import relu
from fedtheory.experiments.network import (
    NUMBERS,
    REALS,
    SIZES,
    Layer,
    Step,
    here_type,
    number_parameters,
    plan_layers,
)
from fedtheory.experiments.networks import NETWORKS
from fedtheory.experiments.problems._network import (
    ROWS,
    WORDS,
    Data,
    keep_freed_memory,
    network_kernels,
)
from fedtheory.kernel_table import kernel_table
from fedtheory.problem import Problem, layers_from, no_test
from fedtheory.problems import _samples
from fedtheory.typing import Number

__all__ = ["network", "accuracy"]


def network(
    layers: float | str | Sequence[Callable[..., Any] | Layer],
    X: float | np.ndarray | Sequence[Any],
    y: Any,
    server: np.ndarray | Sequence[Any] | None = None,
    test: np.ndarray | Sequence[np.ndarray] | None = None,
    batch: int | None = 32,
    batch_0: int | str | None = None,
    replacement: bool = False,
    classes: int | None = None,
    weights: str | Sequence[float] | None = None,
    dtype: str = "float64",
    top: int = 10,
    server_layers: Any = None,
    last: str | None = None,
    seed: float = 0,
) -> Problem:
    """Build a network on the N clients' arrays, and on the server's arrays server=(X_0, y_0), if
    given.

    `layers` is a list (ft.layers) or the name of a network of the papers (ft.networks); with
    `last`, a name, a dense layer to the classes is added under that name. `server_layers`, ending in a
    loss, are what the server's loss is made of instead; they share parameters of `layers`. X[i]: one
    row a sample, of any shape, images as (height, width, channels); y[i]: (n_i,) classes 0, 1, ...,
    or (n_i, places) of them. Where the list ends in no loss, its last outputs are logits, and the
    loss is cross-entropy. test=(X, y) is what test_loss, test_accuracy, test_recall (label among
    the `top` best) and test_auc (of two classes) are measured on. dtype="float32" computes in single
    precision, points and what methods hold of them included; what a run tells is float64. Minibatches as in `mlp`. Layers are dense1/W, dense1/b, ...; runs
    start where the layers say, drawn from `seed`.

    >>> import fedtheory as ft
    >>> X, y = [[[1.0], [-1.0]], [[2.0], [-2.0]]], [[0, 1], [0, 1]]
    >>> layers = [ft.layers.dense(3), ft.layers.relu(), ft.layers.dropout(0.5), ft.layers.dense(2)]
    >>> problem = ft.problems.network(layers, X, y, batch=2, test=([[3.0]], [0]))
    >>> [layer.name for layer in problem.layers]
    ['dense1/W', 'dense1/b', 'dense2/W', 'dense2/b']
    """
    real = REALS[arguments.check_word("dtype", dtype, REALS)]
    replacement = arguments.check_flag("replacement", replacement)
    features, labels, shape = check_samples(X, y, server, test, real)
    classes = _check_classes(labels, classes)
    layers = _list_layers(layers, shape, classes, top, last)
    if layers[0].admits is not None:
        for part in features:
            if part is not None:
                layers[0].admits(part)
    programs, own = _plan_programs(layers, server_layers, shape)
    steps, fitted, wide, keeps = (
        [*one, *two] if isinstance(one, list) else max(one, two) for one, two in zip(*programs)
    )
    sizes = np.array([0 if part is None else len(part) for part in features[:-1]], dtype=np.int64)
    noise, sigmas, batches = _samples.noise_of(
        "minibatch", 0.0, 0.0, batch, batch_0, replacement, sizes
    )
    drawing = any(layer.draws for layer in [*layers, *own])
    owned = programs[0][1]
    d = sum(parameter.size for here in owned for parameter in here.parameters)
    arguments.check_fits("layers", 4, d)
    generator = rng.host_generator(seed, "mlp")
    blocks, pairs = [], []
    for name, parameter in number_parameters(layers, owned):
        blocks.append(parameter.start(generator))
        pairs.append((name, parameter.size))
    inputs, held = prod(shape), features[-1]
    here = here_type(dtype)
    padded = lambda rows, width, kind: np.array(
        [[*row, *[0] * (width - len(row))] for row in rows], dtype=kind
    )
    data = Data(
        _stack_rows(features[:-1], real),
        _stack_rows(labels[:-1], np.int64),
        np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        np.zeros((0, inputs), real) if held is None else held,
        np.zeros((0, 1), np.int64) if held is None else labels[-1],
        kernel_table([layer.forward for layer in [*layers, *own]], here),
        kernel_table([layer.backward for layer in [*layers, *own]], here),
        kernel_table([layers[-1].judge], here),
        np.array(_clear_writes(steps), dtype=np.int64),
        padded([each.sizes for each in fitted], SIZES, np.int64),
        padded([each.numbers for each in fitted], NUMBERS, np.float64),
        np.array([0, len(layers), len(layers) + len(own)], dtype=np.int64),
        wide,
        keeps,
        max(1, min(ROWS, WORDS // (2 * wide + keeps))),
    )
    keep_freed_memory()
    kernels = network_kernels(dtype)
    if held is None:
        kernels = kernels._replace(test=no_test)
    return Problem(
        "network",
        data,
        kernels,
        len(sizes) - 1,
        d,
        _samples.weights_of(weights, sizes),
        {},
        has_server=features[0] is not None,
        sizes=sizes,
        noise=noise,
        sigma=sigmas,
        batch_size=batches,
        replacement=replacement,
        drawing=drawing,
        layers=layers_from(pairs, d),
        start=np.concatenate(blocks),
        real=dtype,
    )


def _plan_programs(
    layers: Sequence[Layer], server_layers: Any, shape: Sequence[int]
) -> tuple[tuple[Any, Any], list[Layer]]:
    """Return ((plan of the clients' layers, plan of the server's own layers), list of the server's
    own layers)."""
    owners: dict = {}
    clients = plan_layers(layers, shape, owners)
    if server_layers is None:
        return (clients, ([], [], 0, 0)), []
    own = [*server_layers]
    if not own or own[-1].judge is None:
        refuse("server_layers", "must end in a loss", own)
    steps, fitted, wide, keeps = plan_layers(own, shape, owners)
    if any(here.parameters for here in fitted):
        refuse("server_layers", "must have no parameters but those that they share", own)
    base = len(layers)
    steps = [step._replace(skip=step.skip + base if step.skip >= 0 else -1) for step in steps]
    return (clients, (steps, fitted, wide, keeps)), own


def _clear_writes(steps: Sequence[Step]) -> list[Step]:
    """Return the steps, with the flag `writes` cleared for steps whose parameters several steps
    share: such steps add to the derivative instead of writing it."""
    places = [step.at for step in steps if step.size]
    return [step._replace(writes=step.writes * (places.count(step.at) == 1)) for step in steps]


def _list_layers(
    layers: Any, shape: Sequence[int], classes: int, top: int, last: str | None
) -> list[Any]:
    """Return the list of layers, with a loss at its end."""
    if isinstance(layers, str):
        layers = NETWORKS[arguments.check_word("layers", layers, NETWORKS)].layers(classes)
    if not arguments.is_iterable(layers):
        refuse("layers", "must be a list of layers, or the name of a network of the papers", layers)
    found = list(layers)
    for layer in found:
        if not isinstance(layer, Layer):
            refuse("layers", "must be a list of layers, such as ft.layers.dense makes", layer)
    if last is not None:
        found.append(dense(classes)._replace(name=last))
    if not found or found[-1].judge is None:
        found.append(cross_entropy(classes, top))
    return found


def check_samples(
    X: float | np.ndarray | Sequence[Any],
    y: Any,
    server: np.ndarray | Sequence[Any] | None,
    test: np.ndarray | Sequence[np.ndarray] | None,
    real: type,
) -> tuple[list[Any], list[Any], tuple[int, ...]]:
    """Return (features, labels, shape of a sample): lists with the server's entry first and the
    held-out samples' last, None where there are none. Features are flat arrays of reals, labels
    have shape (n, places)."""
    for name, value in (("X", X), ("y", y)):
        if isinstance(value, (str, bytes, dict)) or not arguments.is_iterable(value):
            refuse(name, "must be a list of the clients' arrays", value)
    X, y = list(X), list(y)
    if len(X) != len(y) or not X:
        refuse(
            "X and y",
            "must be lists of equal length N >= 1, one array of each for a client",
            (len(X), len(y)),
        )
    for name, pair in (("server", server), ("test", test)):
        pairs = pair is None or isinstance(pair, (tuple, list)) and len(pair) == 2
        if not pairs or pair is not None and any(part is None for part in pair):
            refuse(name, "must be a pair of arrays (X, y), or None", pair)
    given = [("server: X_0", "server: y_0", *(server or (None, None)))]
    given += [(f"X[{i}]", f"y[{i}]", *pair) for i, pair in enumerate(zip(X, y))]
    for name, _, rows, _ in given[1:]:
        if rows is None:  # the server's are given by name, and a client without samples is none
            refuse(name, "must be an array of samples", rows)
    given.append(("test: X", "test: y", *(test or (None, None))))
    shape = np.shape(X[0])[1:]
    places = np.shape(y[0])[1:]
    features, labels = [], []
    for whose, whose_labels, rows, marks in given:
        features.append(None if rows is None else _check_rows(whose, rows, shape, real))
        labels.append(
            None if rows is None else _check_labels(whose_labels, marks, len(features[-1]), places)
        )
    return features, labels, shape


def _check_rows(name: str, rows: np.ndarray, shape: Sequence[int], real: type) -> np.ndarray:
    found = np.asarray(rows)
    if found.dtype.kind not in "fiu":
        found = arguments.check_array(name, rows)
    if found.ndim < 2 or 0 in found.shape:
        refuse(name, "must have shape (samples, features), with one sample or more", found.shape)
    if found.shape[1:] != shape:
        like = f"{shape[0]} features" if len(shape) == 1 else f"samples of shape {shape}"
        refuse(name, f"must have {like}, as the arrays before it", found.shape)
    flat = np.ascontiguousarray(found, dtype=real).reshape(len(found), -1)
    if not np.all(np.isfinite(flat)):
        refuse(name, "must be finite", float(flat[~np.isfinite(flat)][0]))
    if np.any(abs(flat) > np.sqrt(np.finfo(real).max)):
        refuse(
            name, f"must be small enough for squares to be {real.__name__}", float(abs(flat).max())
        )
    return flat


def _check_labels(name: str, marks: np.ndarray, n: int, places: Sequence[int]) -> np.ndarray:
    found = arguments.check_array(name, marks, "must be an array of labels", "fiub")
    if found.shape != (n, *places):
        refuse(name, f"must hold one label for each of {n} samples", found.shape)
    wrong = found[(found != np.floor(found)) | (found < 0)]
    if wrong.size:
        refuse("y", "must hold classes 0, 1, 2, ..", float(wrong.flat[0]))
    return np.ascontiguousarray(found.reshape(n, -1), dtype=np.int64)


def _check_classes(labels: Sequence[Any], classes: int | None) -> int:
    most = max(int(part.max()) for part in labels if part is not None)
    classes = (
        max(most + 1, 2) if classes is None else arguments.check_integer("classes", classes, 2)
    )
    if most >= classes:
        refuse("y", f"must hold classes 0..{classes - 1}", most)
    return classes


def _stack_rows(parts: Sequence[Any], kind: type) -> np.ndarray:
    """Return the rows of all parts, stacked; parts that are None are skipped."""
    there = [part for part in parts if part is not None]
    return np.concatenate(there, dtype=kind) if len(there) > 1 else there[0]


def accuracy(problem: Problem, x: Number, X: np.ndarray, y: Number) -> float:
    """Return the fraction of rows of X whose largest logit is that of label y; of tied logits the
    first counts."""
    data, x = problem.data, problem._point(x)
    inputs = data.X.shape[1]
    found = np.asarray(X)
    if found.ndim < 2 or len(found) < 1 or prod(found.shape[1:]) != inputs:
        refuse("X", f"must have shape (n, {inputs}) with n >= 1", found.shape)
    if np.shape(y) != (len(found), *data.y.shape[1:])[: np.ndim(y)]:
        refuse("y", f"must have shape ({len(found)},)", np.shape(y))
    if not np.all(np.isfinite(x)):
        refuse("x", "must be finite", x)
    held = data._replace(
        X_test=np.ascontiguousarray(found.reshape(len(found), -1), dtype=data.X.dtype),
        y_test=np.ascontiguousarray(np.asarray(y).reshape(len(found), -1), dtype=np.int64),
    )
    row = np.empty(4)
    network_kernels(str(data.X.dtype)).test(held, x, row)
    return row[1]


MAKERS = (network,)


def examples() -> dict[str, Problem]:
    generator = rng.host_generator(0, "network example")
    X = [generator.standard_normal((n, 4)) for n in (3, 4, 4)]
    y = [generator.integers(0, 2, len(rows)) for rows in X]
    layers = [dense(3), relu(), dropout(0.5), dense(2)]
    return dict(dropped=network(layers, X[:2], y[:2], (X[2], y[2]), (X[0], y[0]), batch=2))
