"""Data sets in the layout of MNIST: four idx files."""

from collections.abc import Callable
from typing import Any

from fedtheory.experiments.data._data import Data
from fedtheory.experiments.data._sets import Found
from fedtheory.experiments.data.formats import idx

PARTS = ("X", "y", "X_test", "y_test")
STEMS = (
    "train-images-idx3-ubyte",
    "train-labels-idx1-ubyte",
    "t10k-images-idx3-ubyte",
    "t10k-labels-idx1-ubyte",
)


def file_names(stem: str) -> tuple[str, str]:
    """Return the possible names of a file: as published, and with a dot, as some archives unpack
    it."""
    return stem, stem.replace("-idx", ".idx")


def make_loader(name: str, classes: int, turned: bool = False) -> Callable[..., Any]:
    """Return the function that reads the four files; `turned` states that rows and columns are
    exchanged."""

    def load(found: Found) -> Any:
        def images(part: Any) -> Any:
            X = idx.read_idx(found(part), 3)
            return X.swapaxes(1, 2) if turned else X

        parts = {
            "X": lambda: images("X"),
            "X_test": lambda: images("X_test"),
            "y": lambda: idx.read_idx(found("y"), 1),
            "y_test": lambda: idx.read_idx(found("y_test"), 1),
        }
        return Data(name, parts, classes)

    return load
