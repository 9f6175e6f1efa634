"""The server's samples taken from a few clients (FSL, scenario 2 a)."""

import numpy as np

from fedtheory import arguments
from fedtheory.errors import refuse
from fedtheory.experiments.data.partition import _split


def server_from_clients(
    split: np.ndarray | str | _split.Split, c: float, s: float, seed: int = 0
) -> np.ndarray:
    """Return the rows of s samples of each of c clients, all drawn once without replacement.

    >>> from fedtheory.experiments.data import partition
    >>> split = partition.classes([0] * 6 + [1] * 6, clients=4, C=1)
    >>> len(partition.server_from_clients(split, c=2, s=3))
    6
    """
    if not isinstance(split, _split.Split):
        refuse("split", "must be a Split, such as partition.classes makes", split)
    c = arguments.check_integer("c", c, 1, len(split.rows))
    chosen = _split.shuffle_rows(seed, "server's clients", np.arange(len(split.rows)))[:c]
    s = arguments.check_integer("s", s, 1, min(len(split.rows[i]) for i in chosen))
    drawn = [_split.shuffle_rows(seed, f"server from {i}", split.rows[i])[:s] for i in chosen]
    return np.sort(np.concatenate(drawn))
