"""A user's own tables of comma-separated numbers."""

import csv
import io
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from fedtheory import arguments
from fedtheory.errors import refuse
from fedtheory.experiments.data import _files

COLUMNS = 2**20


def read_table(
    path: Path, label: int = -1, most: int = 2**28, cells: int = _files.CELLS
) -> tuple[np.ndarray, np.ndarray]:
    """Return (X (n, features), y (n,)) of a table of numbers, where `label` is the column of the
    label. A first row of names is skipped, labels are replaced by their ranks from 0, and more than
    `cells` numbers are refused."""
    cells, most = (
        arguments.check_integer(*each, 2, 2**62) for each in (("cells", cells), ("most", most))
    )
    X = y = width = None
    done = 0  # rows
    for block in _files.read_line_blocks(path, most):
        if width is None:
            first, rest = _first_fields(block)
            if first is None:
                continue
            width = _row_width(path, first, label)
            block = block if all(map(_is_number, first)) else rest
            X, y = _files.Column(np.float64, width - 1), _files.Column(np.float64)
        if done * width + block.count(b",") + block.count(b"\n") > cells + len(block) // 2:
            _too_many(path, cells, done * width + block.count(b","))
        rows = _parse_numbers(path, block, width, done)
        done += len(rows)
        if done * width > cells:
            _too_many(path, cells, done * width)
        X.add(np.delete(rows, label, axis=1))
        y.add(rows[:, label])
    if not done:
        refuse(str(path), "must hold rows of two numbers or more", "0 rows")
    return X.whole(), _files.number_labels(y.whole())


def _too_many(path: Path, cells: int, found: Any) -> None:
    refuse(str(path), f"must hold at most {cells} numbers, or as many as `cells` says", found)


def _first_fields(block: bytes) -> tuple[Any, bytes]:
    """Return the fields of the first row that is not empty, or None, and the lines after this row."""
    lines = block.lstrip(b"\n")
    line, _, rest = lines.partition(b"\n")
    if not line:
        return None, b""
    if line.count(b",") >= COLUMNS:
        return [""] * (COLUMNS + 1), rest
    try:
        (fields,) = csv.reader([line.decode("utf-8", "replace")])
    except (csv.Error, ValueError):  # a field that is too long, or quotes that never end
        fields = [""]
    return fields, rest


def _row_width(path: Path, first: Sequence[str], label: int) -> int:
    width = len(first)
    if not 2 <= width <= COLUMNS:
        rule = f"must hold rows of two numbers or more, and at most {COLUMNS}"
        refuse(f"{path}: row 1", rule, f"{width} fields")
    if isinstance(label, bool) or not isinstance(label, int) or not -width <= label < width:
        refuse("label", f"must be a column of {width}", label)
    return width


def _parse_numbers(path: Path, block: bytes, width: int, before: int) -> np.ndarray:
    """Return the finite numbers (rows, width) of whole lines; `before` is the number of rows above
    these lines."""
    try:
        text = block.decode("ascii")
        if not text.strip("\n"):
            return np.empty((0, width))
        found = np.loadtxt(io.StringIO(text), delimiter=",", comments=None, quotechar='"', ndmin=2)
        if found.shape[1] == width and np.isfinite(found).all():
            return found
    except ValueError:
        pass
    for n, row in enumerate(filter(None, block.split(b"\n")), before + 1):
        fields, _ = _first_fields(row)
        if len(fields) != width or not all(map(_is_number, fields)):
            refuse(
                f"{path}: row {n}", f"must hold {width} finite numbers", row[:200].decode("latin1")
            )
    return refuse(
        f"{path}: rows from {before + 1} on", f"must hold {width} finite numbers", "others"
    )


def _is_number(text: str) -> bool:
    try:
        return text.isascii() and "_" not in text and math.isfinite(float(text))
    except ValueError:
        return False
