"""Two sources of characters, stand-ins for two text corpora, in which each character depends on the
two before it. `unlike` is the deviation of each source's law from the common law."""

from typing import Any

import numpy as np

from fedtheory import arguments, rng
from fedtheory.experiments.data._data import Data
from fedtheory.experiments.data._sets import Found, Set
from fedtheory.experiments.data.formats.text import ALPHABET

SIGNS = len(ALPHABET)


def load(
    found: Found,
    each: int = 200,
    test: int = 50,
    length: int = 40,
    unlike: float = 0.5,
    seed: int = 0,
) -> Any:
    """Generate `each` training and `test` test windows of each source: X (n, length), and the
    characters that follow, y (n, length)."""
    each, test = arguments.check_integer("each", each, 1), arguments.check_integer("test", test)
    length, unlike = (
        arguments.check_integer("length", length, 1),
        arguments.check_real("unlike", unlike),
    )
    seed = arguments.check_seed(seed)
    arguments.check_fits("each", 2 * (each + test), length + 1)
    signs = [
        _draw_windows(law, each + test, length, seed, s)
        for s, law in enumerate(source_laws(unlike))
    ]
    both = lambda low, high, place: np.concatenate(
        [each[low:high, place : place + length] for each in signs]
    )
    parts = {"X": both(0, each, 0), "y": both(0, each, 1), "writers": np.repeat([0, 1], each)}
    if test:
        parts |= {
            "X_test": both(each, None, 0),
            "y_test": both(each, None, 1),
            "writers_test": np.repeat([0, 1], test),
        }
    return Data("characters", parts, SIGNS)


def source_laws(unlike: float) -> list[np.ndarray]:
    """Return for each of the two sources the probabilities (SIGNS, SIGNS, SIGNS) of a character
    given the two before it."""
    draw = lambda name: rng.host_generator(0, f"characters {name}").standard_normal(
        (2, SIGNS, SIGNS)
    )
    shared, found = draw("shared"), []
    for source in (0, 1):
        scores = shared + unlike * draw(source)
        scores = 2.2 * (scores[0][None, :, :] + 0.7 * scores[1][:, None, :])
        scores -= scores.max(axis=2, keepdims=True)
        mass = np.exp(scores)
        found.append(mass / mass.sum(axis=2, keepdims=True))
    return found


def _draw_windows(law: np.ndarray, count: int, length: int, seed: int, source: int) -> np.ndarray:
    """Return (count, length + 1) characters, where each window is an independent path of the Markov
    chain."""
    generator = rng.host_generator(seed, f"characters source {source}")
    sums = np.cumsum(law, axis=2)
    signs = np.empty((count, length + 3), np.uint8)
    signs[:, :2] = generator.integers(0, SIGNS, (count, 2))
    draws = generator.random((count, length + 1))
    for n in range(length + 1):
        reached = sums[signs[:, n], signs[:, n + 1]] < draws[:, n, None]
        signs[:, n + 2] = np.minimum(reached.sum(axis=1), SIGNS - 1)
    return signs[:, 2:]


SET = Set("characters", "two sources of characters, as unlike as one asks", load)
