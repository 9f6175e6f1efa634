"""Sample counts from a Pareto distribution (flex, section 5.1: Type I, index 0.5)."""

import numpy as np

from fedtheory import arguments
from fedtheory.errors import refuse
from fedtheory.experiments.data.partition import _split
from fedtheory.problems.synthetic import pareto_sizes

FINE = 10**6  # the smallest draw, in whole numbers, before all are scaled


def pareto(
    clients: int, total: int, index: float = 0.5, ratio: int = 100, seed: int = 0
) -> np.ndarray:
    """Return sample counts (clients,) from a Type-I Pareto distribution that sum to `total`, each
    at least 1: P(n > t) = (low / t)^index, given that n <= ratio low. Flex states only the index.

    >>> from fedtheory.experiments.data import partition
    >>> int(partition.pareto(clients=10, total=1000).sum())
    1000
    """
    clients, total = (
        arguments.check_integer("clients", clients, 1),
        arguments.check_integer("total", total, 1),
    )
    ratio = arguments.check_integer("ratio", ratio, 1, 10**6)
    if total < clients:
        refuse("total", f"must be at least {clients}, one sample a client", total)
    drawn = pareto_sizes(clients, FINE, ratio * FINE, index, seed)
    return 1 + _split.whole_shares(total - clients, np.asarray(drawn, float))
