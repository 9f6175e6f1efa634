"""Starts and minimisers of the modified loss by hand."""

from fractions import Fraction as Q

import fedtheory as ft
from fedtheory.models.fsl import pretrain as fsl_pretrain
from fedtheory.models.losses import curve_from_pieces, make_curve
from tests.models.agree import exact_is_batch, refuted, weakened

NAMES = ["tilde_D_0", "D_0", "f_0_start", "f_0_star"]


def test_a_start_by_hand():
    """F = x^2, f_0 = x^2/2 - 3 x, gamma = 1: the sum's minimiser is 1; tilde F = (3 x^2/2 - 3 x)/2,
    at 0 from -3/4."""
    case = dict(losses=[[make_curve(Q(1), Q(-3))], [make_curve(Q(2))]], x=[Q(0)])
    found = fsl_pretrain.measure_symbols(case, dict(gamma=Q(1)), NAMES)
    assert found == dict(tilde_D_0=Q(3, 4), D_0=-1, f_0_start=0, f_0_star=Q(-5, 2))
    assert found["tilde_D_0"] == (found["D_0"] + found["f_0_start"] - found["f_0_star"]) / 2
    assert fsl_pretrain.conditions_held(case) == {"bounded_below"}


def test_a_bent_loss_has_its_minimiser_beyond_the_knot():
    """f' = x/2 - 1 up to 1, then 2 x - 5/2: zero at 5/4."""
    case = dict(
        losses=[[make_curve(Q(0))], [curve_from_pieces([Q(1, 2), Q(2)], [Q(1)], Q(-1))]],
        x=[Q(5, 4)],
    )
    found = fsl_pretrain.measure_symbols(case, dict(gamma=Q(0)), NAMES)
    assert found["tilde_D_0"] == found["D_0"] == 0


def test_without_a_minimum_there_is_no_number():
    case = dict(losses=[[make_curve(Q(0), Q(1))], [make_curve(Q(0))]], x=[Q(0)])
    assert fsl_pretrain.conditions_held(case) == frozenset()
    found = fsl_pretrain.measure_symbols(case, dict(gamma=Q(1)), NAMES)
    assert all(abs(found[name]) == float("inf") for name in NAMES)


def test_a_batch_has_the_exact_numbers():
    assert exact_is_batch(fsl_pretrain.MODEL, NAMES, ["gamma"], count=12) > 30


def test_false_variants_are_refuted_and_the_remark_is_not():
    refuted(weakened("fsl.d0_pretrain"))
    assert ft.check("fsl.d0_pretrain", budget=0.5).status in ("holds", "proved")
    claim = ft.claim("fsl.d0_pretrain")
    ((left, sign, right),) = claim.also
    second = claim.replace(name="a.variant", measures=left, relation=sign, bound=right, also=())
    refuted(second.without("f_0(x_0) near 0"))
