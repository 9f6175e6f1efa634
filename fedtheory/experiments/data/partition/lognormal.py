"""Sample counts from a log-normal distribution."""

from collections.abc import Sequence, Set
from typing import Any

import numpy as np

from fedtheory import arguments, rng
from fedtheory.errors import refuse
from fedtheory.experiments.data.partition import _split


def lognormal(
    clients: int | Set[int], total: int | str, spread: float = 1.0, seed: int | Sequence[Any] = 0
) -> np.ndarray:
    """Return sample counts (clients,) exp(spread N(0, 1)), scaled to sum to `total`, each at least
    1.

    >>> from fedtheory.experiments.data import partition
    >>> partition.lognormal(clients=3, total=9, spread=0.0).tolist()
    [3, 3, 3]
    """
    clients, total = (
        arguments.check_integer("clients", clients, 1),
        arguments.check_integer("total", total, 1),
    )
    spread = arguments.check_real("spread", spread, high=20.0)
    if total < clients:
        refuse("total", f"must be at least {clients}, one sample a client", total)
    draws = rng.host_generator(seed, "partition lognormal").standard_normal(clients)
    return 1 + _split.whole_shares(total - clients, np.exp(spread * draws))
