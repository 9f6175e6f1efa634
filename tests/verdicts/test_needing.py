"""What is looked at for one number of a statement, and what that may take."""

from typing import NamedTuple

import sympy

from fedtheory.search import hunting
from fedtheory.verdicts import needing, sharpening


class Part(NamedTuple):
    printed: object
    kind: str = "constant"


def test_values_are_asked_from_the_most_telling_on_whatever_shape_they_come_from():
    """A ratio that rounding made is asked for first; it must not keep what others refute from being
    asked."""
    less = needing.Less.__new__(needing.Less)
    less.found = sharpening.Sharpened("5", "constant", 0, 5)
    less.part, less.goal, less.purse = Part(sympy.Integer(5)), sympy.Integer(0), needing.Purse(0)
    less.best = {"rounding": (0.9, None), "true": (0.1, None)}
    refuted = lambda value, hunt: value == 0 or hunt == "true" and value < 0.5
    less._breaks = lambda asked: refuted(*asked[:2])
    value, hunt, _ = next(filter(less._breaks, less._asked()))
    assert hunt == "true" and 0.49 < value < 0.5


def test_what_is_looked_at_is_what_the_budget_buys(monkeypatch):
    """Exact looks, certificates and witnesses count as well as the search; the rest is the pool's."""
    purses = []

    class Watched(sharpening.Less):
        def __init__(self, *given):
            super().__init__(*given)
            purses.append(self.purse)

    monkeypatch.setattr(sharpening, "Less", Watched)
    sharpening.sharpen("mixed.lemmaD9", budget=2)
    spent = sum(purse.cost for purse in purses) / hunting.worth(2)
    assert 0.4 < spent < 1.0 and len(purses) > 5
