"""The server alone, by hand."""

from fractions import Fraction as Q

import fedtheory as ft


def test_two_steps_by_hand():
    """f_0 = (x - 3)^2, so grad = 2 (x - 3); from x = 1 with eta_0 = 1/8: 1 + 1/2, then + 3/8."""
    problem = ft.problems.quadratic_from_arrays([2.0], [[3.0], [0.0], [9.0]])
    r = ft.run(problem, "server_sgd", rounds=2, x_0=[1.0], eta_0=0.125, K_0=1, keep="x")
    x = Q(1)
    for t in (1, 2):
        x -= Q(1, 8) * 2 * (x - 3)
        assert r.x[0, t, 0] == x
    assert x == Q(15, 8)
