"""Partition with C classes per client (FSL, section IV-A; Zhao et al. 2018)."""

import numpy as np

from fedtheory import arguments, rng
from fedtheory.errors import refuse
from fedtheory.experiments.data.partition import _split


def classes(
    y: np.ndarray, clients: int, C: int, each: int | None = None, seed: int = 0
) -> _split.Split:
    """Give each client samples of C classes, equally many of each, drawn without replacement. Each
    class goes to equally many clients, or to one more where N C is not a multiple of the number of
    classes.

    `each` samples a client; by default as many as all can have.

    >>> from fedtheory.experiments.data import partition
    >>> split = partition.classes([0] * 6 + [1] * 6 + [2] * 6, clients=3, C=2)
    >>> split.statistics()["labels_each"], split.statistics()["size"]
    (2.0, 6.0)
    """
    y = _split.labels_of(y)
    clients, pools = _split.clients_of(clients, len(y)), _split.by_label(y, seed, "classes")[1]
    C = arguments.check_integer("C", C, 1, len(pools))
    has = _deal_classes(clients, C, len(pools), rng.host_generator(seed, "partition classes"))
    holders = has.sum(axis=0)
    quota = min(len(pool) // count for pool, count in zip(pools, holders) if count)
    if each is not None:
        asked = -(-arguments.check_integer("each", each, C) // C)
        if asked > quota:
            refuse("each", f"must be at most {C * quota}, which {clients} clients can have", each)
        quota = asked
    if quota < 1:
        refuse("clients", "must be so few that each has a sample of each of its classes", clients)
    used, rows = np.zeros(len(pools), np.int64), []
    for i in range(clients):
        mine = np.flatnonzero(has[i])
        rows.append(np.concatenate([pools[c][used[c] : used[c] + quota] for c in mine]))
        used[mine] += quota
    return _split.make_split(f"classes, C = {C}", y, rows)


def _deal_classes(clients: int, C: int, count: int, generator: np.random.Generator) -> np.ndarray:
    """Return the mask (clients, classes) of the classes of each client: each client in turn takes
    the C classes with the most places left, with ties broken at random."""
    order = generator.permutation(count)
    left = np.full(count, clients * C // count)
    left[order[: clients * C % count]] += 1
    has = np.zeros((clients, count), bool)
    for i in generator.permutation(clients):
        taken = np.lexsort((generator.random(count), -left))[:C]
        has[i, taken] = True
        left[taken] -= 1
    return has
