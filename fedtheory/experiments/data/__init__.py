"""Data: published data sets, read and checked; synthetic stand-ins that are generated here;
partitions.

>>> import fedtheory as ft
>>> data = ft.data.load("handwriting", writers=2, each=2, test=0, classes=10)
>>> split = ft.data.partition.by_writer(data.y, data.writers)
>>> X, y = split.arrays(ft.data.flat(data.X))
>>> ft.problems.mlp(X, y, hidden=(8,)).N
2
"""

from pathlib import Path
from typing import Any

from fedtheory.errors import refuse
from fedtheory.experiments.data import partition
from fedtheory.experiments.data._data import Data, flat, smaller
from fedtheory.experiments.data._sets import Set, load

__all__ = ["Data", "Set", "flat", "load", "partition", "read", "smaller"]


def read(path: Any, labels: Path | None = None, **options: Any) -> Any:
    """Read a user's own file as Data: .npz (arrays X, y, X_test, ...), .csv (the last column is the
    label), idx (the format of MNIST; `labels` is the file of the labels), or LIBSVM's format for
    any other file name.

    >>> import tempfile, pathlib, fedtheory as ft
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "own.svm"
    >>> _ = path.write_text("+1 1:0.5 3:2\\n-1 2:1\\n")
    >>> ft.data.read(path).X
    array([[0.5, 0. , 2. ],
           [0. , 1. , 0. ]])
    """
    from fedtheory.experiments.data._data import PARTS
    from fedtheory.experiments.data.formats import arrays, idx, libsvm
    from fedtheory.store.npz import read_npz

    file = _check_file("path", path)
    kind = Path(file.stem).suffix if file.suffix == ".gz" else file.suffix
    is_idx = idx.NAME.search(file.name) is not None
    if is_idx != (labels is not None):
        refuse("labels", "must be given for idx files only, as the file of their labels", labels)
    reads, takes = (
        (idx.read_idx, ("axes",))
        if is_idx
        else (read_npz, ("most",))
        if kind == ".npz"
        else (arrays.read_table, ("label", "most", "cells"))
        if kind == ".csv"
        else (libsvm.read_libsvm, ("features", "cells"))
    )
    for name in options:
        if name not in takes:
            refuse(f"an option for {file.name}", f"must be one of {', '.join(takes)}", name)
    if is_idx:
        parts = {
            "X": idx.read_idx(file, **options),
            "y": idx.read_idx(_check_file("labels", labels), 1),
        }
    elif kind == ".npz":
        parts = read_npz(file, only=PARTS, **options)
        if "X" not in parts or "y" not in parts:
            refuse(str(path), "must hold arrays X and y", sorted(parts))
    else:
        X, y = reads(file, **options)
        parts = {"X": X, "y": y}
    for name, part in parts.items():
        if part.ndim == 0:
            refuse(f"{path}: {name}", "must have rows", part)
    for X, y in (("X", "y"), ("X_test", "y_test")):
        if len(parts.get(X, ())) != len(parts.get(y, ())):
            rows = f"{len(parts.get(X, ()))} and {len(parts.get(y, ()))}"
            refuse(str(path), f"must hold as many rows of {X} as of {y}", rows)
    return Data(file.name, parts)


def _check_file(name: str, path: Any) -> Path:
    """Return the path of an existing file; any other argument is refused under `name`."""
    try:
        there = Path(path).is_file()
    except (TypeError, ValueError, OSError):  # no path, a zero in it, a name that is too long
        there = False
    return Path(path) if there else refuse(name, "must be a file that exists", path)
