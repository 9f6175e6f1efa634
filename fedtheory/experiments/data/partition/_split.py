"""A split: the rows of a data set that each client has, and the statistics that papers report of a
split."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fedtheory import arguments, rng
from fedtheory.display import Shown, number_text
from fedtheory.errors import refuse
from fedtheory.typing import Number

if TYPE_CHECKING:
    from matplotlib.axes._axes import Axes

BARS = "▁▂▃▄▅▆▇█"
SHOWN = 40  # clients that a line shows


@dataclass(frozen=True, repr=False)
class Split(Shown):
    """The rows that N clients have of a data set with labels y; `rows[i]` are the rows of client i
    + 1.

    >>> import fedtheory as ft
    >>> split = ft.data.partition.classes([0, 0, 1, 1], clients=2, C=1)
    >>> split.statistics()["labels_each"]
    1.0
    """

    how: str
    y: np.ndarray
    rows: tuple[Any, ...]

    def heading(self) -> str:
        return f"Split by {self.how}"

    def facts(self) -> dict[str, str]:
        told = self.statistics()
        shown = {
            name: number_text(told[name]) for name in ("N", "n", "size", "labels_each", "distance")
        }
        return {"picture": self.picture(), **shown}

    @cached_property
    def counts(self) -> np.ndarray:
        """Return the number of samples of each client with each label, (N, classes)."""
        labels = np.unique(self.y, return_inverse=True)[1]
        width = int(labels.max()) + 1 if len(labels) else 0
        return np.array([np.bincount(labels[rows], minlength=width) for rows in self.rows])

    def statistics(self) -> dict[str, float]:
        """Return the statistics that papers report: N clients, n samples in use, sample counts,
        labels per client, and the distance of a client's label distribution from that of all
        clients (total variation, mean over clients)."""
        sizes = self.counts.sum(axis=1)
        all_ = self.counts.sum(axis=0) / max(1, sizes.sum())
        own = self.counts / np.maximum(1, sizes)[:, None]
        return {
            "N": len(self.rows),
            "n": int(sizes.sum()),
            "size": float(sizes.mean()),
            "size_deviation": float(sizes.std()),
            "least": int(sizes.min()),
            "most": int(sizes.max()),
            "labels_each": float((self.counts > 0).sum(axis=1).mean()),
            "distance": float(0.5 * abs(own - all_).sum(axis=1).mean()),
        }

    def picture(self) -> str:
        """Render the split in one line: a bar for each shown client (at most SHOWN) with the height
        of its sample count, then as many bars for the number of its labels."""
        chosen = np.linspace(0, len(self.rows) - 1, min(SHOWN, len(self.rows))).astype(int)
        sizes, labels = self.counts.sum(axis=1)[chosen], (self.counts > 0).sum(axis=1)[chosen]
        return f"samples {_draw_bars(sizes, sizes.max())} labels {_draw_bars(labels, self.counts.shape[1])}"

    def arrays(
        self, X: np.ndarray, y: np.ndarray | None = None
    ) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """Return (the clients' samples, their labels) in the form that problems take; labels are
        the split's own unless `y` is given."""
        y = self.y if y is None else np.asarray(y)
        if len(X) != len(self.y) or len(y) != len(self.y):
            refuse("X and y", f"must have the split's {len(self.y)} rows", (len(X), len(y)))
        return [X[rows] for rows in self.rows], [y[rows] for rows in self.rows]

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """Plot the counts into `ax`, or into a new figure, and return the axes: labels
        horizontally, clients vertically, dark where a client has many samples of a label."""
        if ax is None:
            import matplotlib.pyplot as plt

            ax = plt.subplots()[1]
        ax.imshow(self.counts, aspect="auto", cmap="Greys", interpolation="nearest")
        ax.set(xlabel="label", ylabel="client", title=self.how)
        return ax


def _draw_bars(values: np.ndarray, most: int) -> str:
    steps = np.ceil(np.asarray(values) / max(1, most) * len(BARS)).astype(int)
    return "".join(BARS[max(0, step - 1)] for step in steps)


def labels_of(y: np.ndarray | str | Path) -> np.ndarray:
    """Return labels as an array (n,), n >= 1."""
    found = arguments.check_array("y", y, "must be an array of labels", "fiub")
    if found.ndim != 1 or not len(found):
        refuse("y", "must have shape (n,), with one label or more", found.shape)
    if not np.all(found == np.floor(found)):  # false for NaN
        refuse("y", "must hold whole numbers", found[found != np.floor(found)][:3].tolist())
    return found.astype(np.int64)


def clients_of(clients: int, n: int) -> int:
    clients = arguments.check_integer("clients", clients, 1)
    if clients > n:
        refuse("clients", f"must be at most the {n} samples", clients)
    return clients


def sizes_of(sizes: Number, clients: int, n: int) -> np.ndarray:
    """Return the given sample counts (clients,), or n samples divided as evenly as possible."""
    if sizes is None:
        return np.full(clients, n // clients) + (np.arange(clients) < n % clients)
    found = np.asarray(sizes)
    if found.shape not in ((), (clients,)) or found.dtype.kind not in "iu" or np.any(found < 1):
        refuse("sizes", f"must be a positive integer, or {clients} of them", sizes)
    return np.broadcast_to(found, (clients,)).astype(np.int64)


def shuffle_rows(seed: int, name: str, rows: np.ndarray) -> np.ndarray:
    """Return the rows shuffled by a random stream that depends on the name."""
    return rows[rng.host_generator(seed, f"partition {name}").permutation(len(rows))]


def by_label(y: np.ndarray, seed: int, how: str) -> tuple[np.ndarray, list[np.ndarray]]:
    """Return the distinct labels, and the rows of each label in random order."""
    labels = np.unique(y)
    return labels, [
        shuffle_rows(seed, f"{how} {label}", np.flatnonzero(y == label)) for label in labels
    ]


def whole_shares(total: int, weights: np.ndarray) -> np.ndarray:
    """Return whole numbers proportional to the weights that sum to `total`: each share is rounded
    down, and the rest goes to the largest remainders."""
    exact = total * np.asarray(weights, float) / np.sum(weights)
    found = np.floor(exact).astype(np.int64)
    left = int(total - found.sum())
    found[np.argsort(found - exact, kind="stable")[:left]] += 1
    return found


def make_split(how: str, y: np.ndarray, rows: Sequence[Any]) -> Split:
    return Split(how, y, tuple(np.sort(each) for each in rows))
