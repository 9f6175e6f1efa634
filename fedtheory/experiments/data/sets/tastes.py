"""Ratings of films with planted preferences, a stand-in for MovieLens: users and films have a few
hidden traits, and a rating measures how well the traits match."""

from typing import Any

import numpy as np

from fedtheory import arguments, rng
from fedtheory.experiments.data._data import Data
from fedtheory.experiments.data._sets import Found, Set


def load(
    found: Found,
    users: int = 100,
    films: int = 200,
    each: int = 20,
    traits: int = 3,
    noise: float = 0.5,
    seed: int = 0,
) -> Any:
    """Generate X (n, 2): users and films; y (n,): ratings of 1 .. 5; a writer is a user, who rates
    `each` films, popular films more often. The traits are what a recommender has to find."""
    users, films = (
        arguments.check_integer("users", users, 1),
        arguments.check_integer("films", films, 1),
    )
    each, traits = (
        arguments.check_integer("each", each, 1, films),
        arguments.check_integer("traits", traits, 1),
    )
    noise, seed = arguments.check_real("noise", noise), arguments.check_seed(seed)
    arguments.check_fits("users and films", users + films, traits + each)
    planted = rng.host_generator(seed, "tastes")
    user, film = (planted.standard_normal((n, traits)) for n in (users, films))
    popular = np.log(1.0 / (1 + planted.permutation(films)))
    rows, values = [], []
    for u in range(users):
        generator = rng.host_generator(seed, f"tastes {u}")
        scores = popular + generator.gumbel(size=films)  # without replacement, by popularity
        chosen = np.sort(np.argpartition(-scores, each - 1)[:each])
        fit = film[chosen] @ user[u] / np.sqrt(traits) + noise * generator.standard_normal(each)
        rows.append(np.column_stack([np.full(each, u), chosen]))
        values.append(np.clip(np.rint(3 + 1.2 * fit), 1, 5))
    X = np.concatenate(rows)
    return Data("tastes", {"X": X, "y": np.concatenate(values), "writers": X[:, 0]})


SET = Set("tastes", "ratings of films with planted tastes, a stand-in for MovieLens", load)
