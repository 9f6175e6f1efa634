"""The record of a data set: arrays of samples and labels, read when they are first accessed."""

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np

from fedtheory import arguments
from fedtheory.display import Shown
from fedtheory.errors import refuse
from fedtheory.typing import Exact

PARTS = ("X", "y", "X_test", "y_test", "writers", "writers_test")


class Data(Shown):
    """Samples X (n, ...), labels y (n,), the same for test data, and the writer of each sample,
    where writers are known.

    `writers` are integers: a font, a user, a source. What is absent is None. Each part is read when
    it is first asked for.
    """

    def __init__(
        self, name: str, parts: Mapping[str, Any], classes: int | None = None, meaning: str = ""
    ) -> None:
        self.name, self.classes, self.meaning, self._parts = name, classes, meaning, parts

    def _part(self, name: str) -> np.ndarray | np.memmap | None:
        found = self._parts.get(name)
        return found() if callable(found) else found

    X = cached_property(lambda self: self._part("X"))
    y = cached_property(lambda self: self._part("y"))
    X_test = cached_property(lambda self: self._part("X_test"))
    y_test = cached_property(lambda self: self._part("y_test"))
    writers = cached_property(lambda self: self._part("writers"))
    writers_test = cached_property(lambda self: self._part("writers_test"))

    def heading(self) -> str:
        return f"Data {self.name}"

    def facts(self) -> dict[str, Any]:
        told = {part: " x ".join(map(str, self._shape(part))) for part in ("X", "X_test")}
        told = {part: shape for part, shape in told.items() if shape}
        return told | ({"classes": self.classes} if self.classes else {})

    def _shape(self, part: str) -> tuple[int, ...]:
        values = getattr(self, part)
        return () if values is None else values.shape

    def __getstate__(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "classes": self.classes,
            "meaning": self.meaning,
            "_parts": {part: getattr(self, part) for part in PARTS},
        }


def _as_numbers(X: np.ndarray | str) -> np.ndarray:
    return (
        X if isinstance(X, np.ndarray) and X.dtype.kind in "fiu" else arguments.check_array("X", X)
    )


def flat(X: np.ndarray) -> np.ndarray:
    """Return samples as rows of numbers: bytes are scaled to [0, 1], all other numbers stay
    unchanged.

    >>> import numpy as np
    >>> from fedtheory import data
    >>> data.flat(np.array([[[0, 255], [51, 0]]], np.uint8))
    array([[0. , 1. , 0.2, 0. ]])
    """
    X = _as_numbers(X)
    if X.ndim < 2:
        refuse("X", "must have shape (samples, ...)", X.shape)
    rows = X.reshape(len(X), -1)
    return rows / 255.0 if rows.dtype == np.uint8 else np.asarray(rows, np.float64)


def smaller(X: np.ndarray | str, side: Exact) -> np.ndarray:
    """Return images (n, height, width) or (n, channels, height, width) reduced to squares of `side`
    pixels. Each new pixel is the mean of the old pixels that it covers: the inputs of a small
    variant of a network.

    >>> import numpy as np
    >>> from fedtheory import data
    >>> data.smaller(np.array([[[0, 8], [4, 0]]], np.uint8), 1)
    array([[[3]]], dtype=uint8)
    """
    X, side = _as_numbers(X), arguments.check_integer("side", side, 1)
    if X.ndim not in (3, 4) or X.shape[-1] != X.shape[-2] or X.shape[-1] < side:
        refuse("X", f"must be square images of {side} pixels or more", X.shape)
    weights = _covering_shares(X.shape[-1], side)
    found = weights @ X.astype(np.float32) @ weights.T
    return np.rint(found).astype(np.uint8) if X.dtype == np.uint8 else found


def _covering_shares(large: int, side: int) -> np.ndarray:
    """Return the (side, large) matrix of the shares in which each new pixel covers the old pixels;
    rows sum to 1."""
    edges = np.linspace(0, large, side + 1)
    cells = np.arange(large)
    over = np.minimum(edges[1:, None], cells + 1) - np.maximum(edges[:-1, None], cells)
    return (np.maximum(over, 0) * (side / large)).astype(np.float32)
