"""MovieLens: lines of user, film, rating and time, parted by `::`, a tab or a comma."""

import numpy as np

from fedtheory.data import _files
from fedtheory.errors import refuse

MOST = 2**28  # bytes: a hundred times the largest set that is read here
PARTS = {"ratings.dat": b"::", "u.data": b"\t"}


def read(path):
    """(users (n,), films (n,), ratings (n,), times (n,)) of a file of ratings."""
    parting = PARTS.get(path.name, b",")
    rows = _files.content(path, MOST).splitlines()
    if parting == b"," and rows and not rows[0][:1].isdigit():
        rows = rows[1:]  # names of columns
    found = np.empty((len(rows), 4))
    for n, row in enumerate(rows):
        parts = row.split(parting)
        try:
            found[n] = [float(parts[place]) for place in range(max(4, len(parts)))]
        except (ValueError, IndexError):  # no number, or not four of them
            refuse(f"{path}: row {n + 1}", "must say user, film, rating and time", row)
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
        refuse(str(path), "must rate a film once by a user", f"{len(found) - len(pairs)} twice")
    return users.astype(np.int64), films.astype(np.int64), found[:, 2], times.astype(np.int64)
