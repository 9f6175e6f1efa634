"""Problems made of samples: clients' arrays, minibatches and the variance that minibatches cause.

Index 0 is the server throughout, with None for its arrays and 0 for its numbers where there is no
server data. Rows of all clients are stacked, the server's first. The functions here check what a
user hands in; kernels and constants of a loss are elsewhere.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from fedtheory import arguments
from fedtheory.errors import refuse
from fedtheory.problem import noise_from, weights_from
from fedtheory.rng import NO_DRAW
from fedtheory.typing import Number


def check_arrays(
    X: np.ndarray | Sequence[np.ndarray | list[list[float]]],
    y: np.ndarray | Sequence[np.ndarray | list[int]],
    server: Any = None,
) -> tuple[list[Any], list[Any]]:
    """Return checked lists of features (n_i, F) and labels (n_i,), made from the N clients' arrays
    and server = (X_0, y_0). Index 0 is the server's entry, None in both lists where there is no
    server data."""
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
    if server is not None and (not isinstance(server, (tuple, list)) or len(server) != 2):
        refuse("server", "must be the pair (X_0, y_0) of the server's arrays, or None", server)
    features, labels, width = [None], [None], None
    for i, (rows, marks) in enumerate(zip(X, y)):
        features[len(features) :], labels[len(labels) :] = zip(
            _check_samples(f"X[{i}]", f"y[{i}]", rows, marks, width)
        )
        width = features[-1].shape[1]
    if server is not None:
        features[0], labels[0] = _check_samples("server: X_0", "server: y_0", *server, width)
    return features, labels


def _check_samples(
    whose_rows: str,
    whose_marks: str,
    rows: np.ndarray | Sequence[list[float]],
    marks: np.ndarray | Sequence[int],
    width: int | None,
) -> tuple[np.ndarray, np.ndarray]:
    """Return one client's features and labels as arrays of floats, or refuse them."""
    rows = arguments.check_array(whose_rows, rows)
    marks = arguments.check_array(whose_marks, marks, "must be an array of labels", "fiub")
    if rows.ndim != 2 or rows.shape[0] < 1 or rows.shape[1] < 1:
        refuse(
            whose_rows, "must have shape (samples, features), with one sample or more", rows.shape
        )
    if width not in (None, rows.shape[1]):
        refuse(whose_rows, f"must have {width} features, as the arrays before it", rows.shape)
    if marks.shape != rows.shape[:1]:
        refuse(whose_marks, f"must hold one label for each of {len(rows)} samples", marks.shape)
    if not np.all(np.isfinite(rows)):
        refuse(whose_rows, "must be finite", float(rows[~np.isfinite(rows)][0]))
    if np.any(abs(rows) > arguments.LARGEST):
        refuse(
            whose_rows,
            f"must be at most {arguments.LARGEST:g} in size, for squares to be floats",
            float(abs(rows).max()),
        )
    return rows, marks


def sizes_of(X: Sequence[Any]) -> np.ndarray:
    """Return the number of samples of the server and of each client, (N + 1,)."""
    return np.array([0 if rows is None else len(rows) for rows in X], dtype=np.int64)


def stack_rows(X: Sequence[Any], width: int) -> tuple[np.ndarray, np.ndarray]:
    """Return all rows stacked and padded with zeros to `width` columns, and the index (N + 2,) at
    which each client's rows begin."""
    starts = np.concatenate([[0], np.cumsum(sizes_of(X))]).astype(np.int64)
    stacked = np.zeros((starts[-1], width))
    for rows, start in zip(X, starts):
        if rows is not None:
            stacked[start : start + len(rows), : rows.shape[1]] = rows
    return stacked, starts


def weights_of(weights: Any, sizes: Number) -> np.ndarray:
    """Return weights p made from None (equal), "samples" (p_i = n_i / n, as in flex) or N numbers."""
    if isinstance(weights, str):
        if weights != "samples":
            refuse("weights", "must be None, 'samples' or one number a client", weights)
        weights = sizes[1:]
    return weights_from(weights, len(sizes) - 1)


def noise_of(
    noise: str,
    sigma: float,
    sigma_0: float,
    batch: int | Sequence[int] | None,
    batch_0: Number,
    replacement: bool,
    sizes: np.ndarray,
) -> tuple[str, np.ndarray, np.ndarray]:
    """Return the checked noise: its kind, the (N + 1,) sigma of additive noise, the (N + 1,)
    minibatch sizes.

    A minibatch drawn without replacement ends at the client's n_i samples; None means all of them,
    with no noise. The server's is `batch_0`, or `batch` where that is one number.
    """
    N = len(sizes) - 1
    noise, sigmas = noise_from(noise, sigma, sigma_0, N)
    if noise != "minibatch":
        if batch is not None or batch_0 is not None:
            refuse("batch", "needs noise='minibatch'", noise)
        return noise, sigmas, np.zeros(N + 1, dtype=np.int64)
    if sigmas.any():
        refuse(
            "sigma and sigma_0",
            "must be 0 under minibatch noise, which has the samples' variance",
            (sigma, sigma_0),
        )
    if replacement and batch is None and batch_0 is None:
        refuse("replacement", "needs a batch size", replacement)
    return noise, sigmas, _batch_sizes(batch, batch_0, replacement, sizes)


def _batch_sizes(
    batch: int | Sequence[int] | None, batch_0: int | None, replacement: bool, sizes: np.ndarray
) -> np.ndarray:
    """Return the minibatch sizes (N + 1,), 0 for all samples; without replacement, at most the
    client's number of samples."""
    given = np.zeros(len(sizes), dtype=np.int64)  # 0: all samples
    if batch is not None:
        values = np.asarray(batch)
        if (
            values.shape not in ((), (len(sizes) - 1,))
            or values.dtype.kind not in "iu"
            or np.any(values < 1)
        ):
            refuse("batch", f"must be a positive integer, or {len(sizes) - 1} of them", batch)
        given[1:] = values
        if values.ndim == 0:
            given[0] = values
    if batch_0 is not None:
        given[0] = arguments.check_integer("batch_0", batch_0, 1)
    if sizes[0] == 0:
        given[0] = 0
    return given if replacement else np.minimum(given, sizes)


def finite_factor(size: int, batch: int, replacement: bool) -> float:
    """Return the variance of a minibatch mean over the population variance: (n - B) / (B (n - 1))
    without replacement (FSL, equation 10), 1 / B with replacement; 0 where all samples are used."""
    if batch == 0 or (batch >= size and not replacement):
        return 0.0
    return 1.0 / batch if replacement else (size - batch) / (batch * (size - 1.0))


def minibatch_variance(problem: Any, i: Number, x: np.ndarray) -> float:
    """Return E||g - grad f_i(x)||^2 of client i's minibatch gradient g at x: the mean square
    deviation of the samples' gradients from their mean, times `finite_factor`. Raises InvalidInput
    unless the problem's noise is "minibatch"."""
    if problem.noise != "minibatch":
        refuse("noise", f"of {problem.name} must be minibatch", problem.noise)
    x, i = problem._point(x), problem._index(i)
    n, g = int(problem.sizes[i]), np.empty((int(problem.sizes[i]), problem.d))
    for row in range(n):
        problem.kernels.batch(problem.data, i, np.array([row]), NO_DRAW, x, g[row])
    gaps = g - g.mean(axis=0)
    return float(np.sum(gaps * gaps) / n) * finite_factor(
        n, int(problem.batch_size[i]), problem.replacement
    )
