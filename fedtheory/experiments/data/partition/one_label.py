"""Partition with one label per device (flex, section 5.1; FED-LAMB, section 4.1)."""

import numpy as np

from fedtheory import arguments, rng
from fedtheory.errors import refuse
from fedtheory.experiments.data.partition import _split


def one_label(
    y: np.ndarray,
    clients: int,
    sizes: np.ndarray | None = None,
    balanced: bool = False,
    seed: int = 0,
) -> _split.Split:
    """Give each client samples of one label, chosen uniformly at random, without replacement.

    With `balanced` labels are dealt out as evenly as may be instead. `sizes`: how many samples each
    client is to have (one number or N); by default those of a label are shared evenly. Clients of
    a label that has too few samples share them in the proportion of their sizes.

    >>> from fedtheory.experiments.data import partition
    >>> partition.one_label([0, 0, 1, 1], clients=2, balanced=True).statistics()["labels_each"]
    1.0
    """
    y = _split.labels_of(y)
    clients, pools = _split.clients_of(clients, len(y)), _split.by_label(y, seed, "one label")[1]
    generator = rng.host_generator(seed, "partition one label")
    if arguments.check_flag("balanced", balanced):
        order = generator.permutation(len(pools))
        chosen = generator.permutation(order[np.arange(clients) % len(pools)])
    else:
        chosen = generator.integers(0, len(pools), clients)
    wanted = None if sizes is None else _split.sizes_of(sizes, clients, len(y))
    rows = [None] * clients
    for label, pool in enumerate(pools):
        mine = np.flatnonzero(chosen == label)
        if not len(mine):
            continue
        if len(mine) > len(pool):
            refuse(
                "clients",
                f"must be at most the samples of a label; {len(mine)} chose one",
                len(pool),
            )
        asked = np.full(len(mine), len(pool)) if wanted is None else wanted[mine]
        if asked.sum() > len(pool):
            asked = 1 + _split.whole_shares(len(pool) - len(mine), asked - 1)
        ends = np.cumsum(asked)
        for i, low, high in zip(mine, ends - asked, ends):
            rows[i] = pool[low:high]
    return _split.make_split("one label a device", y, rows)
