"""SYNTHETIC(alpha, beta) of Li et al. 2018 (FedProx), and softmax regression on it (flex, section
5.1).

Client k labels x ~ N(v_k, diag(j^-1.2)) by argmax(W_k'x + b_k), with entries W_k, b_k ~ N(u_k, 1)
and v_k ~ N(B_k, 1) around u_k ~ N(0, alpha), B_k ~ N(0, beta). Two readings had to be chosen:

- N(0, alpha) has variance alpha, as N(v_k, Sigma) has covariance Sigma; FedProx's code takes alpha
  for the deviation, which is alpha**2 here.
- By the formula, clients of SYNTHETIC(0, 0) still differ in W_k, b_k and v_k, and FedProx runs it
  as such. Flex calls alpha = beta = 0 its IID case, which is FedProx's other data set,
  synthetic_iid: one W and b for all, and v_k = 0. Here alpha = beta = 0 is flex's unless iid=False
  asks for the formula's.

As the formula stands, alpha changes no label: u_k adds the same number to the score of every class.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from fedtheory import arguments, rng
from fedtheory.errors import refuse
from fedtheory.problem import Problem
from fedtheory.problems.softmax import softmax
from fedtheory.typing import Number


class Arrays(NamedTuple):
    """Lists of N + 1 arrays, the server's first. The server's entry is None where there is no
    server data, and always None among the test data."""

    X: list[Any]
    y: list[Any]
    X_test: list[Any]
    y_test: list[Any]


class _Model(NamedTuple):
    """A client's model: labels argmax(W'x + b) of features x ~ N(v, diag(j^-1.2))."""

    W: np.ndarray  # (features, classes)
    b: np.ndarray  # (classes,)
    v: np.ndarray  # (features,)

    def draw(self, generator: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
        """Draw n samples: features (n, features) and their classes (n,)."""
        deviations = np.arange(1, len(self.v) + 1) ** -0.6  # square roots of j^-1.2
        X = self.v + generator.standard_normal((n, len(self.v))) * deviations
        return X, np.argmax(X @ self.W + self.b, axis=1)


def pareto_sizes(
    clients: int, low: int = 20, high: int = 2000, index: float = 0.5, seed: int = 0
) -> np.ndarray:
    """Draw sample counts from the Type-I Pareto law, P(n > t) = (low / t)^index for t >= low, given
    that n <= high.

    Flex fixes the index at 0.5 and prints neither scale nor cap. The untruncated law has no mean;
    cut at `high` rather than moved to it, it has mean sqrt(low high).
    """
    clients = arguments.check_integer("clients", clients, 1)
    low, high = arguments.check_integer("low", low, 1), arguments.check_integer("high", high, 1)
    index = arguments.check_real("index", index, open_low=True)
    if high < low:
        refuse("high", f"must be >= low = {low}", high)
    u = rng.host_generator(seed, "synthetic sizes").random(clients)
    t = low * (1.0 - u * (1.0 - (low / high) ** index)) ** (-1.0 / index)
    return np.minimum(t.astype(np.int64), high)


def synthetic_data(
    alpha: Number,
    beta: Number,
    clients: int,
    samples: float | Sequence[int] | None = None,
    low: int = 20,
    high: int = 2000,
    index: float = 0.5,
    server: int = 0,
    test: float = 0.25,
    iid: bool | None = None,
    features: int = 60,
    classes: int = 10,
    seed: int = 0,
) -> Arrays:
    """Draw SYNTHETIC(alpha, beta) as arrays; no client's data depend on another client's number of
    samples. `samples` is the number of training samples of each client (one number or N), Pareto by
    default; `test` the number of test samples per training sample, rounded up; `server` the number
    of the server's samples, each from a client's model, client k's with probability n_k / n."""
    alpha, beta = arguments.check_real("alpha", alpha), arguments.check_real("beta", beta)
    N = arguments.check_integer("clients", clients, 1)
    features, classes = (
        arguments.check_integer("features", features, 1),
        arguments.check_integer("classes", classes, 2),
    )
    server, test = arguments.check_integer("server", server, 0), arguments.check_real("test", test)
    sizes = pareto_sizes(N, low, high, index, seed) if samples is None else np.asarray(samples)
    if sizes.shape not in ((), (N,)) or sizes.dtype.kind not in "iu" or np.any(sizes < 1):
        refuse("samples", f"must be a positive integer, or {N} of them", samples)
    sizes = np.broadcast_to(sizes, (N,))
    arguments.check_fits("samples", int(sizes.max()) * N, features)
    iid = alpha == 0 and beta == 0 if iid is None else arguments.check_flag("iid", iid)
    if iid and (alpha > 0 or beta > 0):
        refuse("iid", "needs alpha = beta = 0", (alpha, beta))
    found = Arrays([None], [None], [None], [None])
    models = []
    for k in range(1, N + 1):
        models.append(_draw_model(alpha, beta, features, classes, iid, seed, k))
        for name, n, X, y in (
            ("train", sizes[k - 1], found.X, found.y),
            ("test", int(np.ceil(test * sizes[k - 1])), found.X_test, found.y_test),
        ):
            rows, labels = models[-1].draw(
                rng.host_generator(seed, f"synthetic {name} {k}"), int(n)
            )
            X.append(rows)
            y.append(labels)
    if server:
        generator = rng.host_generator(seed, "synthetic server")
        drawn = [
            models[k].draw(generator, 1) for k in generator.choice(N, server, p=sizes / sizes.sum())
        ]
        found.X[0], found.y[0] = (np.concatenate(parts) for parts in zip(*drawn))
    return found


def _draw_model(
    alpha: float, beta: float, features: int, classes: int, iid: bool, seed: int, k: int
) -> _Model:
    """Draw client k's model; the same model for all clients if `iid`, with v = 0."""
    generator = rng.host_generator(seed, "synthetic model" if iid else f"synthetic model {k}")
    u, B = np.sqrt([alpha, beta]) * generator.standard_normal(2)
    W, b = (
        u + generator.standard_normal((features, classes)),
        u + generator.standard_normal(classes),
    )
    return _Model(W, b, np.zeros(features) if iid else B + generator.standard_normal(features))


def synthetic(
    alpha: int,
    beta: float,
    clients: int,
    ridge: float = 1e-4,
    batch: int | None = 20,
    samples: int | None = None,
    low: int = 20,
    high: int = 2000,
    index: float = 0.5,
    server: int = 0,
    iid: bool | None = None,
    features: int = 60,
    classes: int = 10,
    seed: int = 0,
    weights: str | None = "samples",
    **options: Any,
) -> Problem:
    """Build softmax regression on SYNTHETIC(alpha, beta); its arrays, with test data, are those of
    `synthetic_data` with the same arguments, and `options` go to `softmax`. Batches of 20 and p_i =
    n_i / n follow flex; flex states no ridge, and the default is that of Li et al. 2020 (FedAvg on
    non-IID data).

    >>> import fedtheory as ft
    >>> problem = ft.problems.synthetic(1.0, 1.0, clients=3, features=5, classes=2)
    >>> problem.N
    3
    """
    arrays = synthetic_data(
        alpha, beta, clients, samples, low, high, index, server, 0.0, iid, features, classes, seed
    )
    own = (arrays.X[0], arrays.y[0]) if server else None
    return softmax(
        arrays.X[1:],
        arrays.y[1:],
        ridge,
        own,
        classes=classes,
        weights=weights,
        batch=batch,
        **options,
    )


MAKERS = (synthetic,)


def examples() -> dict[str, Problem]:
    return dict(
        iid=synthetic(0, 0, 3, ridge=0.01, batch=2, samples=5, features=3, classes=4),
        own=synthetic(
            1, 1, 3, ridge=0.01, batch=3, low=2, high=9, server=4, features=2, classes=2, seed=1
        ),
    )
