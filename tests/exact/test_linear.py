"""Numbers that are linear in unknowns, against maps worked by hand."""

from fractions import Fraction as Q

import numpy as np
import pytest

from fedtheory import discover
from fedtheory.arithmetic.operations import Interval, Many, vector
from fedtheory.errors import NotExact
from fedtheory.exact.linear import Linear, linear_coefficients
from fedtheory.exact.traces import Losses, Rounds, uniform_cohorts

X, N = Linear({"x": Q(1)}), Linear({"n": Q(1)})


def test_sums_and_multiples():
    found = 2 * (X - N / 4) + Q(1, 2) * N - X
    assert found.terms == {"x": 1} and found.row(["n", "x"]) == [0, 1]
    assert (sum([X, X]) - 0).terms == {"x": 2} and linear_coefficients(Q(0), ["x"]) == [0]


@pytest.mark.parametrize("factor", [Many(np.array([1.0, 2.0])), Interval(Q(1, 3), Q(1, 2)), 0.5])
def test_factors_of_every_kind_from_either_side(factor):
    for found in (factor * X, X * factor):
        value = found.terms["x"]
        assert type(value) is (type(factor) if not isinstance(factor, float) else Q)
    with pytest.raises(TypeError):
        factor + X
    with pytest.raises(TypeError):
        X * X


def test_a_round_of_fsl_is_the_map_by_hand():
    """f_1 = x^2/2, f_0 = x^2: two steps of 1/2 with noise n_0, n_1 and one of the server of 1/8:
    (x/4 - n_0/4 - n_1/2) 3/4."""
    grad = lambda i, y: vector([y[0] * (1 if i else 2)])
    noise = lambda i, k: [(Q(1), vector([Linear({(i, k): Q(1)})]))] if i else []
    rounds = Rounds(
        discover.algorithm("fsl"),
        Losses(grad, noise, (Q(0), Q(1)), 1),
        dict(eta_l=Q(1, 2), eta_0=Q(1, 8), K=2),
    )
    ((_, after),) = rounds.after(rounds.start([X]), uniform_cohorts(1, 1, 2))
    assert after.x[0].terms == {"x": Q(3, 16), (1, 0): Q(-3, 16), (1, 1): Q(-3, 8)}


def test_what_is_not_linear_is_refused():
    """FedAdam takes a root of squares of changes."""
    losses = Losses(lambda i, y: y, lambda i, k: [], (Q(0), Q(1)), 1)
    rounds = Rounds(discover.algorithm("fedadam"), losses, dict(eta_l=Q(1, 2), eta=Q(1)))
    with pytest.raises(NotExact, match="fedadam"):
        rounds.after(rounds.start([X]), uniform_cohorts(1, 1, 1))
