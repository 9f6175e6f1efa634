"""Partition iid: samples are shuffled and divided."""

import numpy as np

from fedtheory.errors import refuse
from fedtheory.experiments.data.partition import _split


def iid(
    y: np.ndarray | str, clients: int, sizes: np.ndarray | bytes | None = None, seed: int = 0
) -> _split.Split:
    """Give each client samples drawn without replacement from all samples. `sizes` is the number of
    samples per client (one number or N numbers; evenly by default).

    >>> from fedtheory.experiments.data import partition
    >>> partition.iid([0, 1] * 5, clients=3).statistics()["most"]
    4
    """
    y = _split.labels_of(y)
    clients = _split.clients_of(clients, len(y))
    counts = _split.sizes_of(sizes, clients, len(y))
    if counts.sum() > len(y):
        refuse("sizes", f"must add up to at most {len(y)} samples", int(counts.sum()))
    order, ends = _split.shuffle_rows(seed, "iid", np.arange(len(y))), np.cumsum(counts)
    return _split.make_split("iid", y, [order[a:b] for a, b in zip(ends - counts, ends)])
