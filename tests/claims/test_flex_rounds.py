"""Flex's statements about rounds, optima and laws on small instances in exact rationals, and where
its schemes end."""

import math
from fractions import Fraction as Q

import numpy as np
import pytest

import fedtheory as ft
from fedtheory import participation
from fedtheory.participation import moments

VEC = lambda *entries: np.array([Q(e) for e in entries], dtype=object)


@pytest.mark.parametrize(
    "s, scheme", [((2, 0, 1), "C"), ((1, 1, 2), "B"), ((0, 2, 2), "A"), ((0, 0, 0), "C")]
)
def test_the_two_lines_of_eq2(s, scheme):
    """With s gradients they agree; the printed summand i = s makes exactly the difference that the
    record names."""
    A, b = [Q(1), Q(2), Q(1, 3)], [VEC(1, 2), VEC(0, -1), VEC(5, 1)]
    noise = lambda k, i: VEC(Q(k + 1, 7), Q(-i, 3))
    p_tau = moments.coefficients(scheme, [Q(1, 2), Q(1, 4), Q(1, 4)], s, 2)
    found = moments.two_lines(
        lambda k, i, w: A[k] * (w - b[k]) + noise(k, i), VEC(3, -2), p_tau, s, Q(1, 5)
    )
    assert found["sq_gap_eq2"] == 0 and found["sq_gap_printed"] == found["sq_extra"]
    assert (found["sq_extra"] > 0) == (max(s) > 0 or scheme == "B")
    # The second line once more, by hand: gradients along the path, for each device
    x, total = VEC(3, -2), VEC(3, -2)
    for k, (c, steps) in enumerate(zip(p_tau, s)):
        w = x
        for i in range(steps):
            g = A[k] * (w - b[k]) + noise(k, i)
            w, total = w - Q(1, 5) * g, total - c * Q(1, 5) * g
    assert (
        moments.two_lines(lambda k, i, w: A[k] * (w - b[k]) + noise(k, i), x, p_tau, s, Q(1, 5))[
            "sq_gap_eq2"
        ]
        == 0
    )
    first = x + sum(
        (c * (run(A, b, noise, k, x, steps) - x) for k, (c, steps) in enumerate(zip(p_tau, s))),
        VEC(0, 0),
    )
    assert (first == total).all()


def run(A, b, noise, k, w, steps):
    for i in range(steps):
        w = w - Q(1, 5) * (A[k] * (w - b[k]) + noise(k, i))
    return w


@pytest.mark.parametrize(
    "L, mu, n, n_l, b_l", [(1, 1, 4, 1, 2), (5, 1, 3, 3, 1), (2, Q(1, 2), 1, 9, -4)]
)
def test_theorem3_2_on_quadratics_of_one_dimension(L, mu, n, n_l, b_l):
    """F has curvature mu and minimiser 0, F_l curvature L and minimiser b_l: the new optimum by
    hand."""
    p_l = Q(n_l, n + n_l)
    new = p_l * L * b_l / (p_l * L + (1 - p_l) * mu)
    refuted = False
    for name, gamma, moved in (
        ("arrival", "Gamma_l", dict(n=n)),
        ("departure", "tilde_Gamma_l", dict(n=n + n_l)),
    ):
        claim = ft.claim(f"flex.theorem3_2_{name}")  # departing undoes what arriving did
        values = dict(L=L, mu=mu, n_l=n_l, shift=abs(new), **moved, **{gamma: Q(L) * b_l**2 / 2})
        assert claim.evaluate_left(values).upper <= claim.evaluate(values).lower
        refuted |= claim.replace(bound=claim.weakened).evaluate(values).upper < abs(new)
    assert refuted == (L == 1)


def test_jensen_and_its_weakened_bound():
    claim = ft.claim("flex.jensen_s")
    for law in ([0, Q(1, 2), 0, Q(1, 2)], [0, 0, 1, 0], [0, Q(1, 3), Q(1, 3), Q(1, 3)]):
        found = moments.moments("C", [Q(1)], [law], 3)
        values = dict(E_s=found["E_s"], E_inv_s=found["E_inv_s"])
        assert claim.evaluate(values).exact >= claim.evaluate_left(values).exact
    values = dict(E_s=2, E_inv_s=Q(1, 2))  # a constant s: equality
    assert claim.replace(bound=claim.weakened).evaluate(values) < claim.evaluate_left(values)
    # s = 0 counts 0 in E[1/s]: what the unstated assumption excludes
    found = moments.moments("C", [Q(1)], [[Q(3, 4), 0, Q(1, 4)]], 2)
    assert found["E_inv_s"] == Q(1, 8) < 1 / found["E_s"] == 2


def test_corollary4_0_2_near_the_old_optimum():
    """F = x^2 / 2, F_l = (x - 4)^2 / 2, p~ = 1/4, so w~* = 1; W on [-1, 4]. Inside the sphere the
    step helps."""
    claim, p_l, W = ft.claim("flex.corollary4_0_2"), Q(1, 4), Q(5)
    gap = (
        Q(3, 4) * Q(0) + p_l * Q(16) / 2 - (Q(3, 4) * Q(1, 2) + p_l * Q(9) / 2)
    )  # F~(0) - F~(1) = 1/2
    assert gap == Q(1, 2)
    known = dict(L=1, mu=1, p_l=p_l, Gamma_l=Q(8), W=W, gap_new=gap)
    radius = float(gap) / ((2 * math.sqrt(2) / 4 * math.sqrt(8) + 1) * 1.25)
    for w in (Q(0), Q(1, 10), Q(-1, 10)):
        assert abs(w) < radius
        inner = (w - 4) * (w - 1)
        after = 0  # a step from w towards 4 passes w~* = 1
        values = {
            **known,
            "dist_old": abs(w),
            "inner_l": inner,
            "dist_reboot": after,
            "dist_new": abs(w - 1),
        }
        assert claim.evaluate_left(values).exact > claim.evaluate(values).exact == 0
        assert claim.evaluate_left(values, line=1).exact < claim.evaluate(values, line=1).exact
        false = claim.replace(bound=claim.weakened)
        assert not false.evaluate_left(values).exact > false.evaluate(values).exact
    assert (
        5 * (5 - 1) > 0 > (Q(2) - 4) * (Q(2) - 1)
    )  # beyond w~* the device's gradient points the wrong way


WORK = [
    [0, 0.5, 0, 0.5],
    [0, 0, 0.5, 0.5],
]  # E = 3: means 2 and 5/2; A: complete half of the time each


@pytest.mark.parametrize(
    "scheme, work", [("A", [[0, 0.75, 0, 0.25], [0, 0, 0, 1.0]]), ("B", WORK), ("C", WORK)]
)
def test_where_the_schemes_end(scheme, work):
    """Decaying steps without noise end at the minimiser for the weights p-hat: for C that is w*,
    not for A and B."""
    A, b, p = [1.0, 3.0], [-1.0, 2.0], [0.6, 0.4]
    problem = ft.problems.quadratic_from_arrays(
        np.array([[1.0], [1.0], [3.0]]), np.array([[0.0], [-1.0], [2.0]]), weights=p
    )
    found = ft.run(
        problem,
        f"flex_{scheme.lower()}",
        rounds=4000,
        trials=16,
        seed=1,
        E=3,
        keep="x",
        eta=participation.staircase(2.0, 4000, offset=20.0),
        participation=participation.Participation("full", participation.distribution(work)),
    )
    pmf = [[Q(x) for x in row] for row in work]
    weights = moments.limit_weights(scheme, [Q(3, 5), Q(2, 5)], pmf, 3)
    minimiser = lambda q: sum(q[k] * A[k] * b[k] for k in (0, 1)) / sum(q[k] * A[k] for k in (0, 1))
    there, w_star = float(minimiser([float(x) for x in weights])), minimiser(p)
    assert found.x[:, -1, 0].mean() == pytest.approx(there, abs=0.02)
    assert (abs(there - w_star) > 0.06) == (scheme != "C")
    claim = ft.claim("flex.bias_A_B")  # and p^k itself, its weakened bound, is refuted
    if scheme == "B":
        values = dict(
            p_k=Q(3, 5),
            E_s_k=2,
            sum_weight_B=Q(3, 5) * 2 + Q(2, 5) * Q(5, 2),
            limit_weight_B_k=weights[0],
        )
        assert (
            claim.evaluate(values, strict=False).exact
            == weights[0]
            != claim.replace(bound=claim.weakened).evaluate(values, strict=False).exact
        )
