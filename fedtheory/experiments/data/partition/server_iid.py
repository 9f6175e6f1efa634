"""The server's samples: a few of every class (FSL, scenario 1)."""

from pathlib import Path

import numpy as np

from fedtheory import arguments
from fedtheory.experiments.data.partition import _split


def server_iid(y: np.ndarray | Path, n_0: float, seed: int = 0) -> np.ndarray:
    """Return n_0 rows, equally many of each class as far as possible, drawn without replacement.

    >>> from fedtheory.experiments.data import partition
    >>> rows = partition.server_iid([0] * 8 + [1] * 8, n_0=6)
    >>> len(rows), int((rows < 8).sum())
    (6, 3)
    """
    y = _split.labels_of(y)
    n_0 = arguments.check_integer("n_0", n_0, 1, len(y))
    labels, pools = _split.by_label(y, seed, "server")
    order = _split.shuffle_rows(seed, "server's classes", np.arange(len(pools)))
    turns = np.concatenate([np.arange(len(pool)) for pool in pools])
    places = np.concatenate([np.full(len(pool), order[n]) for n, pool in enumerate(pools)])
    first = np.lexsort((places, turns))[:n_0]  # one of each class, then another of each
    return np.sort(np.concatenate(pools)[first])
