"""Curves of many pieces: their least value, found from one knot to the next."""

from fractions import Fraction as Q
from random import Random

import numpy as np
import pytest

from fedtheory.arithmetic.operations import Many
from fedtheory.models import losses, minima


def drawn(random, knots):
    slopes = [Q(random.randint(-4, 4), 2) for _ in range(knots + 1)]
    if random.random() < 0.7:
        slopes[0], slopes[-1] = abs(slopes[0]), abs(slopes[-1])
    at = sorted(Q(n, 3) for n in random.sample(range(-20, 20), knots))
    return losses.curve_from_pieces(slopes, at, Q(random.randint(-5, 5)))


def one_by_one(f, monkeypatch):
    """The least value as all knots and zeros are compared with each other."""
    with monkeypatch.context() as patch:
        patch.setattr(minima, "MANY", 10**9)
        return minima.least_of([f], [Q(2)])[0]


def test_the_least_value_is_that_of_all_knots_and_zeros(monkeypatch):
    random = Random(0)
    for _ in range(150):
        f = drawn(random, random.randint(1, 9))
        least, place = minima.least_along(f, Q(2))
        assert least == one_by_one(f, monkeypatch)
        if not isinstance(least, float):
            assert 2 * losses.loss_value([f], [place]) == least


def test_a_batch_is_what_its_instances_are():
    """Bends in any order; without an infimum where an instance has none."""
    random = Random(1)
    curves = [drawn(random, 9) for _ in range(40)]
    row = lambda of: Many(np.array([float(of(f)) for f in curves]))
    places = random.sample(range(9), 9)
    bends = [[row(lambda f, n=n, k=k: f["bends"][n][k]) for k in (0, 1)] for n in places]
    batch = losses.make_curve(row(lambda f: f["slope"]), row(lambda f: f["tilt"]), bends)
    alone = [float(minima.least_along(f, Q(2))[0]) for f in curves]
    assert minima.least_along(batch, Q(2))[0].at == pytest.approx(alone, rel=1e-9, abs=1e-9)
    assert {np.isfinite(each) for each in alone} == {True, False}
