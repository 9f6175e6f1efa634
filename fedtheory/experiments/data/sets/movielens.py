"""MovieLens: ratings of films by users, from the sets that GroupLens still offers; the rows are
counted."""

from typing import Any

import numpy as np

from fedtheory.errors import refuse
from fedtheory.experiments.data._data import Data
from fedtheory.experiments.data._files import File
from fedtheory.experiments.data._sets import Found, Set
from fedtheory.experiments.data.formats import ratings

# (rows, users, films that were rated) -> what GroupLens calls it
KNOWN = {
    (100000, 943, 1682): "ml-100k",
    (1000209, 6040, 3706): "ml-1m",
    (100004, 671, 9066): "ml-latest-small of 2016",
    (100836, 610, 9724): "ml-latest-small of 2018",
}


def load(found: Found) -> Any:
    """Read X (n, 2): users and films, numbered from 0, and y (n,): ratings. A writer is a user."""
    path = found("ratings")
    users, films, values, _ = ratings.read_ratings(path)
    counts = len(values), len(np.unique(users)), len(np.unique(films))
    if counts not in KNOWN:
        told = "; ".join(f"{name}: {rows}" for rows, name in KNOWN.items())
        refuse(str(path), f"must have the rows, users and films of {told}", counts)
    user, film = (np.unique(each, return_inverse=True)[1] for each in (users, films))
    X = np.column_stack([user, film])
    return Data("movielens", {"X": X, "y": values, "writers": user}, None, KNOWN[counts])


SET = Set(
    "movielens",
    "ratings of films: ml-1m, ml-100k or ml-latest-small",
    load,
    tuple({"ratings": File((name,))} for name in ("ratings.dat", "u.data", "ratings.csv")),
    "grouplens.org/datasets/movielens",
    6.0,
    "no redistribution without GroupLens's permission",
)
