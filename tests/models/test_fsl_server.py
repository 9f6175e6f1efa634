"""Steps on the server's loss: by hand, against the engine, and false variants."""

from fractions import Fraction as Q

import numpy as np
import pytest

import fedtheory as ft
from fedtheory.models.fsl import server as fsl_server
from fedtheory.models.losses import make_curve
from tests.models.agree import exact_is_batch, refuted, weakened

CASE = dict(
    K_0=2,
    losses=[[make_curve(Q(1), Q(-1))], [make_curve(Q(2))], [make_curve(Q(0), Q(4))]],
    x=[Q(3)],
)


def test_two_steps_by_hand():
    """f_0 = x^2/2 - x, F = (x^2 + 4 x)/2; from 3 by 1/2: 3, 2, 3/2."""
    found = fsl_server.measure_symbols(CASE, dict(eta_0=Q(1, 2)), list(fsl_server.SERVER))
    assert found == dict(
        F_w0=Q(21, 2),
        F_w1=6,
        a_w0=25,
        b_w0=4,
        inner_w0=10,
        inner_move=-5,
        sq_move=1,
        xi_w0=9,
        F_bar=Q(21, 2),
        F_next=Q(33, 8),
        sum_a=25 + 16,
        sum_b=4 + 1,
        sum_xi=9 + 9,
    )
    assert fsl_server.derive_constants(CASE) == dict(K_0=2, N=2, L=2)


def test_the_engine_goes_the_same_way():
    problem = ft.problems.quadratic_from_arrays(
        np.array([[1.0], [2.0], [1.0]]), np.array([[1.0], [0.0], [-4.0]])
    )
    run = ft.run(problem, "server_sgd", rounds=1, x_0=np.array([3.0]), eta_0=0.5, K_0=2)
    start = dict(
        CASE, losses=[[make_curve(Q(1), Q(-1))], [make_curve(Q(2))], [make_curve(Q(1), Q(4))]]
    )
    found = fsl_server.measure_symbols(start, dict(eta_0=Q(1, 2)), ["F_bar", "F_next"])
    assert np.diff(run.metrics["loss"][0])[0] == pytest.approx(
        float(found["F_next"] - found["F_bar"])
    )


def test_smoothness_is_the_text_s_upper_quadratic():
    bowl = [[make_curve(Q(-7))], [make_curve(Q(1, 2))]]
    assert fsl_server.derive_constants(dict(CASE, losses=bowl))["L"] == Q(1, 2)
    assert fsl_server.conditions_held(CASE) == {"smooth", "exact_gradients", "server"}
    assert fsl_server.conditions_held(dict(CASE, losses=CASE["losses"][:1])) == frozenset()


def test_a_batch_has_the_exact_numbers():
    assert exact_is_batch(fsl_server.MODEL, list(fsl_server.SERVER), ["eta_0"]) > 100


@pytest.mark.parametrize(
    "name", ["fsl.eq7", "fsl.eq8_eq9", "fsl.eq9_progress", "fsl.server_multistep", "fsls.eq2"]
)
def test_false_variants_are_refuted_and_true_lines_are_not(name):
    refuted(weakened(name), says="server's loss")
    assert ft.check(name, budget=0.3).status in ("holds", "proved")
