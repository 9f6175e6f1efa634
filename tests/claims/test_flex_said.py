"""What flex's text says between its theorems, against a second transcription, and instances worked by hand."""

from fractions import Fraction as Q

import numpy as np
import pytest

import fedtheory as ft
from fedtheory.claims.flex import said
from fedtheory.models import by_name

V = dict(
    n=12,
    n_l=5,
    n_l_more=9,
    L=Q(3),
    mu=Q(1, 2),
    E=4,
    N=7,
    T=20,
    tau_0=Q(6),
    V_0=Q(11),
    V_1=Q(13),
    D_0=Q(5, 2),
    gamma_0=Q(9),
    gamma_1=Q(8),
    ps=Q(3, 2),
    ps_Gamma=Q(7, 5),
    Gamma_max=Q(2),
    Gamma_l=Q(2, 3),
    tilde_Gamma_l=Q(8, 3),
    Gamma_l_new=Q(6),
    Gamma_l_old=Q(24),
    dist_old=Q(5, 3),
)
# id -> right side of each line, by hand: 2 sqrt(2 L)/mu is 4 sqrt 6
RIGHT = {
    "flex.scheme_A_bounded": [7],
    "flex.scheme_B_bounded": [1],
    "flex.scheme_C_bounded": [4],
    "flex.only_if_sublinear": [0],
    "flex.A_B_fail_active": [0],
    "flex.C_works_active": [0],
    "flex.D_bounded": [64 * 4 * 2 * 2],
    "flex.coefficient_is_rate": [0],
    "flex.distance_by_gradient": [5, Q(5, 6)],
    "flex.shift_few_data": [
        4 * 6**0.5 * 9 / 21 * (2 / 3) ** 0.5,
        4 * 6**0.5 * 9 / 12 * (8 / 3) ** 0.5,
    ],
    "flex.theorem3_2_arrival_new": [4 * 6 * 5 / 17],
    "flex.theorem3_2_departure_old": [4 * 12 * 5 / 12],
    "flex.structural_bias": [Q(5, 8)],
    "flex.structural_bias_loss": [64 * 4 * Q(7, 5) / (Q(1, 2) * Q(3, 2)) / 4],
    "flex.excluded_decreases": [Q(13, 64)],
    "flex.shift_increases": [Q(11, 33)],
    "flex.shift_increases_typed": [Q(11, 33)],
}
LEFT = {
    "flex.D_bounded": 64 * 4 * Q(7, 5) / (Q(1, 2) * Q(3, 2)),
    "flex.shift_few_data": 4 * 6**0.5 * 5 / 17 * (2 / 3) ** 0.5,
    "flex.structural_bias": (14 * Q(5, 2) + 11) / 89,
    "flex.excluded_decreases": Q(13, 68),
    "flex.shift_increases": Q(13, 8),
}


@pytest.mark.parametrize("claim", [c for c in said.CLAIMS if c.lines], ids=lambda c: c.id)
def test_lines_agree_with_the_text(claim):
    assert len(RIGHT[claim.id]) == len(claim.lines)
    values = {name: V[name] for name in claim.symbols if name in V}
    for line, right in enumerate(RIGHT[claim.id]):
        found = float(claim.evaluate(values, strict=False, line=line))
        assert found == pytest.approx(float(right), rel=1e-12)
    if claim.id in LEFT:
        left = float(claim.evaluate_left(values, strict=False))
        assert left == pytest.approx(float(LEFT[claim.id]), rel=1e-12)


def test_every_sentence_has_its_numbers():
    assert set(RIGHT) == {c.id for c in said.CLAIMS if c.lines}


def shift(event, n, n_l):
    """L = mu = 1, F = x^2/2 of the others, F_l = (x - 1)^2/2."""
    setting = by_name(f"flex_{event}")
    instance = dict(event=event, n=[n, n_l], a=[[Q(1)], [Q(1)]], b=[[Q(0)], [Q(1)]])
    name = "Gamma_l_new" if event == "arrival" else "Gamma_l_old"
    found = setting.measure(instance, {}, {"shift", name})
    known = {**setting.constants(instance), **found}
    claim = ft.claim(f"flex.theorem3_2_{event}_{'new' if event == 'arrival' else 'old'}")
    return (
        found["shift"],
        known[name],
        claim.evaluate({k: known[k] for k in claim.needs(claim.bound)}),
    )


def test_the_other_reading_of_4_fails_for_much_data():
    """One old sample and two new ones: the minimiser moves from 0 to 2/3, F_l(2/3) = 1/18, and the
    bound is 2 sqrt 2 (2/3) sqrt(1/18) = 4/9."""
    moved, excess, bound = shift("arrival", 1, 2)
    assert (moved, excess) == (Q(2, 3), Q(1, 18))
    assert float(bound) == pytest.approx(4 / 9, rel=1e-12) and float(bound) < moved


def test_the_other_reading_of_5_fails_for_much_data():
    """Three samples of which two go: the minimiser moves from 2/3 to 0, F_l(2/3) = 1/18, the bound
    is 2 sqrt 2 (2/3) sqrt(1/18) = 4/9."""
    moved, excess, bound = shift("departure", 1, 2)
    assert (moved, excess) == (Q(2, 3), Q(1, 18))
    assert float(bound) == pytest.approx(4 / 9, rel=1e-12) and float(bound) < moved


def test_a_larger_coefficient_is_no_larger_rate():
    """One device, f = w^2/2 from w = 1, E = 4, two steps of 1/4: w ends at 9/16, and E/s = 2 times the change is
    -7/8. Steps of 1/2 end at 1/4: a change of -3/4."""
    setting = by_name("flex_round_c")
    zero = [[[Q(0)]] * 3]
    instance = dict(scheme="C", E=4, s=[2], x=[Q(1)], a=[[Q(1)]], tilt=zero, p=[Q(1)])
    found = setting.measure(instance, dict(eta=Q(1, 4)), {"sq_gap_rate", "sq_gap_eq2"})
    assert found == {"sq_gap_rate": Q(1, 64), "sq_gap_eq2": 0}


def test_aggregating_parameters_is_aggregating_gradients():
    (same,) = ft.claim("flex.aggregate_parameters").same
    weights = [0.5, 0.3, 0.2]
    problem = ft.problems.quadratic(3, 3, L=2.0, mu=0.5, G=1.0, weights=weights, seed=3)
    x = np.array([1.0, -2.0, 0.5])
    run = ft.run(problem, "flex_b", rounds=3, x_0=x, keep="x", eta=0.1, E=4)
    assert run.x[0] == pytest.approx(np.array(same.other(problem, x, 3, 0.1, 4)), rel=1e-12)
