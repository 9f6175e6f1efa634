"""Shared and drawn samples: by hand, against the package's own data sharing, and false variants."""

from fractions import Fraction as Q

import numpy as np
import pytest

import fedtheory as ft
from fedtheory.models import by_name
from fedtheory.models.fsl import sharing as fsl_sharing
from tests.models.agree import exact_is_batch, refuted, weakened

CASE = dict(samples=[[[Q(2)]], [[Q(0)], [Q(4)]], [[Q(6)]]], x=[Q(0)])


def test_shared_samples_by_hand():
    """Losses at 0: 2 | 0, 8 | 18; with the server's sample at each client there are five."""
    found = fsl_sharing.measure_symbols(CASE, {}, ["F_x", "f_0_x", "F_shared"])
    assert found == dict(F_x=Q(26, 3), f_0_x=2, F_shared=Q(0 + 8 + 2 + 18 + 2, 5))
    assert fsl_sharing.derive_constants(CASE) == dict(N=2, n=3, n_0=1)
    assert fsl_sharing.SHARING.holds(CASE) == {"samples", "server"}
    assert fsl_sharing.SHARING.holds(dict(CASE, samples=[[], [[Q(1)]]])) == frozenset()


def test_drawn_samples_by_hand():
    """Two of 0, 3, 6: means 3/2, 3, 9/2 around 3."""
    case = dict(samples=[[Q(0)], [Q(3)], [Q(6)]], x=[Q(1)], n_0=2)
    found = fsl_sharing.drawn_measure(case, {}, ["sampled_xi", "population"])
    assert found == dict(sampled_xi=Q(3, 2), population=6)
    assert found["sampled_xi"] == (Q(3, 2) - 1) * found["population"] / 2  # (10)
    assert fsl_sharing.DRAWN.holds(dict(case, n_0=4)) == frozenset()


def test_drawing_as_numpy_does_agrees():
    samples = np.array([[1.0, 0.5], [-2.0, 0.0], [0.5, 3.0], [4.0, -1.0]])
    case = dict(samples=[[Q(v) for v in row] for row in samples], x=[Q(0), Q(0)], n_0=3)
    exact = float(fsl_sharing.drawn_measure(case, {}, ["sampled_xi"])["sampled_xi"])
    generator = np.random.default_rng(0)
    draws = [
        ((samples[generator.permutation(4)[:3]].mean(axis=0) - samples.mean(axis=0)) ** 2).sum()
        for _ in range(4000)
    ]
    assert abs(np.mean(draws) - exact) < 5 * np.std(draws) / np.sqrt(4000)


@pytest.mark.parametrize(
    "name, wanted",
    [
        ("fsl_sharing", ["F_x", "f_0_x", "F_shared"]),
        ("fsl_drawn_server", ["sampled_xi", "population"]),
    ],
)
def test_a_batch_has_the_exact_numbers(name, wanted):
    assert exact_is_batch(by_name(name), wanted) > 30


@pytest.mark.parametrize("name", ["fsl.eq4", "fsl.eq10"])
def test_false_variants_are_refuted_and_true_lines_are_not(name):
    refuted(weakened(name))
    assert ft.check(name, budget=0.3).status in ("holds", "proved")
