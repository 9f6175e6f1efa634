"""The server's samples taken from another source (FSL, scenario 2 b)."""

from collections.abc import Sequence

import numpy as np

from fedtheory import arguments
from fedtheory.errors import refuse
from fedtheory.experiments.data.partition import _split
from fedtheory.typing import Exact


def server_other(
    y: np.ndarray | str, each: Exact | None, absent: int | Sequence[int] = (), seed: int = 0
) -> np.ndarray:
    """Return `each` rows of every class of another source's labels y, except the classes in
    `absent` (STL-10 has no frog).

    >>> from fedtheory.experiments.data import partition
    >>> len(partition.server_other([0, 0, 1, 1, 2, 2], each=1, absent=[2]))
    2
    """
    labels, pools = _split.by_label(_split.labels_of(y), seed, "server other")
    gone = np.atleast_1d(np.asarray(absent))
    kept = [pool for label, pool in zip(labels, pools) if label not in gone]
    if not kept:
        refuse("absent", "must leave one class or more", absent)
    each = arguments.check_integer("each", each, 1, min(map(len, kept)))
    return np.sort(np.concatenate([pool[:each] for pool in kept]))
