"""A point and two losses: minimisers, definition 4.2's constants and propositions D.5 and D.6, by
hand and on grids."""

from fractions import Fraction as Q
from random import Random

import pytest

import fedtheory as ft
from fedtheory.arithmetic.intervals import INF
from fedtheory.models import losses, minima
from fedtheory.models.losses import curve_from_pieces, make_curve
from fedtheory.models.mixed import point as mixed_point
from tests.models.agree import exact_is_batch, refuted, weakened

NAMES = list(mixed_point.MEASURED)
CASE = dict(
    losses=[[make_curve(Q(1), Q(-1))], [curve_from_pieces([Q(1), Q(2)], [Q(0)], Q(1))]],
    x=[Q(1)],
    smooth="each",
    B=Q(2),
)


def test_a_point_by_hand():
    """f' = 2 y left of 0 and 3 y right of it; at 1: f_f = -1/2, f_c = 2, gradients 0 and 3."""
    told = mixed_point.measure_symbols(CASE, mixed_point.derive_constants(CASE), NAMES)
    assert told["gap"] == told["F"] == Q(3, 2) and told["D_sq"] == told["sq_dist"] == 1
    assert (told["sq_grad"], told["sq_grad_f"], told["sq_grad_c"]) == (9, 0, 9)
    assert (told["sq_change_f"], told["mean_sq_change"], told["sq_change_c"]) == (1, 1, 4)
    assert told["excess_D5"] == max(Q(1, 4) - Q(1, 2), Q(4, 4) - 1)


def test_least_points_are_those_of_a_fine_search():
    random = Random(0)
    for _ in range(15):
        pieces = [Q(random.randint(-2, 4)) for _ in range(3)]
        pair = [
            [curve_from_pieces(pieces, [Q(-1), Q(2)], Q(random.randint(-3, 3)))],
            [make_curve(Q(random.randint(0, 2)), Q(1))],
        ]
        low, place = minima.least_point(pair, (Q(1), Q(1)))
        f = lambda y: sum(losses.loss_value(loss, [y]) for loss in pair)
        tried = min(f(Q(n, 8)) for n in range(-800, 801))
        if isinstance(low, float):
            assert min(f(Q(-(10**6))), f(Q(10**6))) < tried - 1000
        else:
            assert f(place[0]) == low <= tried <= low + 1


def test_G_is_the_least_that_definition_4_2_allows():
    random = Random(1)
    finite = 0
    for _ in range(24):
        pair = [
            [
                curve_from_pieces(
                    [Q(random.randint(0, 2)) for _ in range(3)],
                    [Q(-1), Q(1, 2)],
                    Q(random.randint(-2, 2)),
                )
            ]
            for _ in range(2)
        ]
        B = random.choice([Q(1), Q(5, 4), Q(2)])
        square = losses.relative_mismatch(*pair, B)
        need = []
        for n in range(-800, 801):
            g, h = (losses.loss_gradient(loss, [Q(n, 8)])[0] for loss in pair)
            need.append(2 * g * g + 2 * h * h - B * B * (g + h) ** 2)
        if isinstance(square, float):
            assert square == INF and max(need) == max(need[0], need[-1]) > max(need[300:-300])
        else:
            finite += 1
            assert max(need) <= square <= max(need) + Q(1, 4)
    assert 5 < finite < 24


def test_what_an_instance_does_not_meet():
    assert mixed_point.conditions_held(CASE) >= {
        "smooth",
        "convex",
        "strongly_convex",
        "bounded_below",
        "dissimilar",
    }
    assert "dissimilar" not in mixed_point.conditions_held(dict(CASE, B=Q(1, 2)))
    assert "dissimilar" not in mixed_point.conditions_held(
        dict(CASE, B=Q(1))
    )  # gradients drift apart on the right
    assert mixed_point.conditions_held(dict(CASE, x=[Q(1), Q(1)])) == frozenset()


def test_a_batch_has_the_exact_numbers():
    assert exact_is_batch(mixed_point.MODEL, NAMES, count=12) > 100


@pytest.mark.parametrize(
    "name",
    [
        "def4_2",
        "propD5",
        "stepD5",
        "propD6",
        "stepD6",
        "stepD11_D6",
        "implication_dissimilarity",
        "implication_central_noise",
        "implication_two_way",
    ],
)
def test_false_variants_are_refuted(name):
    refuted(weakened(f"mixed.{name}"))


def test_propositions_hold_and_are_tight():
    for name in ("propD5", "propD6"):
        verdict = ft.check(f"mixed.{name}", budget=0.3)
        assert verdict.status == "holds" and verdict.tightness == pytest.approx(1, abs=1e-6)


def test_D5_needs_convexity():
    """Its text asks for smoothness alone; where f_c curves down, a gradient may change while the
    sum stays low."""
    refuted(ft.claim("mixed.propD5").without("convex"))
