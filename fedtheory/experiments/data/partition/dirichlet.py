"""Partition by Dirichlet(alpha): each class is divided among the clients by a separate draw."""

import numpy as np

from fedtheory import arguments, rng
from fedtheory.errors import refuse
from fedtheory.experiments.data.partition import _split

TRIES = 1000


def dirichlet(
    y: np.ndarray, clients: int, alpha: float, least: int = 1, seed: int = 0
) -> _split.Split:
    """Divide the samples of each class among the clients in proportions drawn from Dirichlet(alpha,
    .., alpha): small alpha gives few classes per client, large alpha is nearly iid. The draw is
    repeated (at most 1000 times) until each client has `least` samples.

    >>> from fedtheory.experiments.data import partition
    >>> split = partition.dirichlet([0, 1] * 50, clients=5, alpha=0.5)
    >>> split.statistics()["n"]
    100
    """
    y = _split.labels_of(y)
    clients, pools = _split.clients_of(clients, len(y)), _split.by_label(y, seed, "dirichlet")[1]
    alpha = arguments.check_real("alpha", alpha, open_low=True)
    least = arguments.check_integer("least", least, 0, len(y) // clients)
    for attempt in range(TRIES):
        generator = rng.host_generator(seed, f"partition dirichlet, attempt {attempt}")
        parts = [
            _split.whole_shares(len(pool), _draw_proportions(generator, alpha, clients))
            for pool in pools
        ]
        if np.sum(parts, axis=0).min() >= least:
            break
    else:
        refuse(
            "alpha",
            f"must be so large that each client has {least} samples in one of {TRIES} draws",
            alpha,
        )
    rows = [[] for _ in range(clients)]
    for pool, part in zip(pools, parts):
        for mine, some in zip(rows, np.split(pool, np.cumsum(part)[:-1])):
            mine.append(some)
    return _split.make_split(f"Dirichlet({alpha:g})", y, [np.concatenate(mine) for mine in rows])


def _draw_proportions(generator: np.random.Generator, alpha: float, clients: int) -> np.ndarray:
    """Return unnormalised Dirichlet proportions, computed from logarithms, since for small alpha a
    gamma draw underflows."""
    logs = np.log(generator.random(clients)) / alpha + np.log(
        generator.standard_gamma(alpha + 1, clients)
    )
    return np.exp(logs - logs.max())
