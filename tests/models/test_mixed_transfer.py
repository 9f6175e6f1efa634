"""Gradients recovered from deltas (8)-(10), and sampled gradients (7), by hand."""

from fractions import Fraction as Q

import pytest

import fedtheory as ft
from fedtheory.models.losses import make_curve
from fedtheory.models.mixed import samples as mixed_samples
from fedtheory.models.mixed import transfer as mixed_transfer
from tests.models.agree import exact_is_batch, refuted, weakened

# Client 1: y^2/2 from 1, gradients 1 + 1 and then, at 1 - (2 + 2)/2 = -1, -1 + 0; transferred: 2
CASE = dict(
    losses=[[make_curve(Q(1))], [make_curve(Q(0), Q(3))]],
    x=[Q(1)],
    transferred=[Q(2)],
    noise=[[[Q(1)], [Q(0)]], [[Q(0)]]],
)


def test_deltas_by_hand():
    told = mixed_transfer.measure_symbols(CASE, dict(eta=Q(1, 2)), list(mixed_transfer.MEASURED))
    assert told == dict(
        miss_8=0, miss_9=0, miss_10=0, sq_transferred=4, sq_applied=(Q(1, 2) + 2) ** 2
    )
    assert mixed_transfer.conditions_held(CASE) == {"sgd"}
    assert mixed_transfer.conditions_held(dict(CASE, noise=[[[Q(1)]], []])) == frozenset()


def test_samples_by_hand():
    case = dict(clients=[[Q(1), Q(0)], [Q(3), Q(2)]], center=[Q(-1), Q(1)])
    told = mixed_samples.measure_symbols(
        case, dict(w_f=Q(1, 2), w_c=Q(1, 2)), list(mixed_samples.MEASURED)
    )
    assert told == dict(sq_seen_f=5, sq_seen_c=2, sq_seen=5, G_t_sq=9, B_t_sq=Q(14, 5))


@pytest.mark.parametrize(
    "setting, takes", [(mixed_transfer, ["eta"]), (mixed_samples, ["w_f", "w_c"])]
)
def test_a_batch_has_the_exact_numbers(setting, takes):
    assert exact_is_batch(setting.MODEL, list(setting.MEASURED), takes, count=8) > 50


@pytest.mark.parametrize("name", ["eq7", "eq8", "eq9", "eq10"])
def test_equations_hold_and_false_variants_are_refuted(name):
    assert ft.check(f"mixed.{name}", budget=0.2).status == "holds"
    refuted(weakened(f"mixed.{name}"))
