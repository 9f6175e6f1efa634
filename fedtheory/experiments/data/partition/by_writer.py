"""Partition by writer: a client is the person who wrote, drew or rated."""

import numpy as np

from fedtheory.errors import refuse
from fedtheory.experiments.data.partition import _split


def by_writer(
    y: np.ndarray, writers: np.ndarray, clients: int | None = None, seed: int = 0
) -> _split.Split:
    """Give each client all samples of one writer; with fewer clients than writers, of several
    writers, assigned at random.

    >>> from fedtheory.experiments.data import partition
    >>> partition.by_writer([0, 1, 0, 1], writers=[7, 7, 9, 9]).statistics()["N"]
    2
    """
    y, who = _split.labels_of(y), _split.labels_of(writers)
    if len(who) != len(y):
        refuse("writers", f"must be one for each of {len(y)} samples", len(who))
    names, owner = np.unique(who, return_inverse=True)
    clients = _split.clients_of(len(names) if clients is None else clients, len(names))
    client = np.arange(len(names))
    if clients < len(names):
        client = _split.shuffle_rows(seed, "by writer", client) % clients
    return _split.make_split(
        "writer", y, [np.flatnonzero(client[owner] == i) for i in range(clients)]
    )
