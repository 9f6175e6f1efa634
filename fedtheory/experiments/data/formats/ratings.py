"""MovieLens: lines of user, film, rating and time, separated by `::`, a tab or a comma."""

import io
from pathlib import Path

import numpy as np

from fedtheory.errors import refuse
from fedtheory.experiments.data import _files

MOST = 2**28  # bytes: a hundred times the largest set that is read here
PARTS = {"ratings.dat": b"::", "u.data": b"\t"}


def read_ratings(path: Path) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Read (users (n,), films (n,), ratings (n,), times (n,)) from a file of ratings."""
    parting = PARTS.get(path.name, b",")
    found, row = _files.Column(np.float64, 4), 0
    for block in _files.read_line_blocks(path, MOST):
        if parting == b"," and not row and not block[:1].isdigit():
            block = block.partition(b"\n")[2]  # names of columns
        part = _parse_numbers(block.replace(parting, b","))
        if part is None:
            _refuse_row(path, block, parting, row)
        found.add(part)
        row += len(part)
    found = found.whole()
    users, films, times = (found[:, n] for n in (0, 1, 3))
    whole = [
        np.all((each == np.floor(each)) & (each >= 0) & (each < 2**40))
        for each in (users, films, times)
    ]
    if not all(whole):  # false for what is no number
        refuse(
            str(path), "must number users, films and seconds by integers >= 0", found[:3].tolist()
        )
    if not np.all((found[:, 2] >= 0) & (found[:, 2] <= 5)):
        refuse(str(path), "must hold ratings of 0 .. 5", found[:3, 2].tolist())
    pairs = np.unique(found[:, :2], axis=0)
    if len(pairs) != len(found):
        refuse(
            str(path),
            "must hold at most one rating of a film by a user",
            f"{len(found) - len(pairs)} twice",
        )
    return users.astype(np.int64), films.astype(np.int64), found[:, 2], times.astype(np.int64)


def _parse_numbers(block: bytes) -> np.ndarray | None:
    """Return the numbers (lines, 4) of whole comma-separated lines; None where a line does not have
    four numbers."""
    if not block:
        return np.empty((0, 4))
    try:
        text = io.StringIO(block.decode("ascii"))
        numbers = np.loadtxt(text, delimiter=",", comments=None, ndmin=2)
    except ValueError:
        return None
    return numbers if numbers.shape == (block.count(b"\n"), 4) else None


def _refuse_row(path: Path, block: bytes, parting: bytes, before: int) -> None:
    for n, row in enumerate(block.split(b"\n"), before + 1):
        if _parse_numbers(row.replace(parting, b",") + b"\n") is None:
            refuse(f"{path}: row {n}", "must say user, film, rating and time", row[:200])
    refuse(f"{path}: row {before + 1}", "must say user, film, rating and time", block[:200])
