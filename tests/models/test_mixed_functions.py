"""One function at three points, by hand; lemmas D.7 and D.8."""

from fractions import Fraction as Q

import pytest

import fedtheory as ft
from fedtheory.models.losses import curve_from_pieces
from fedtheory.models.mixed import functions as mixed_functions
from tests.models.agree import exact_is_batch, refuted, weakened

# h = y^2/2 left of 1, with curvature 3 beyond: h(2) = 2 + 1 and h'(2) = 4
CASE = dict(loss=[curve_from_pieces([Q(1), Q(3)], [Q(1)])], x=[Q(2)], y=[Q(0)], z=[Q(-1)])


def test_by_hand():
    told = mixed_functions.measure_symbols(CASE, dict(eta=Q(1, 4)), list(mixed_functions.FUNCTION))
    assert (told["h_x"], told["h_y"], told["h_z"]) == (3, 0, Q(1, 2))
    assert (told["inner_zy"], told["inner_zx"], told["inner_xy"]) == (-4, -12, 8)
    assert (told["sq_yz"], told["sq_zx"], told["sq_xy"]) == (1, 9, 4)
    assert (told["sq_map"], told["inner_change"]) == (1, 8)
    assert mixed_functions.derive_constants(CASE) == dict(beta=3, mu=1)
    assert mixed_functions.conditions_held(
        dict(CASE, loss=[curve_from_pieces([Q(-1), Q(3)], [Q(1)])])
    ) == {"smooth"}


def test_a_batch_has_the_exact_numbers():
    assert (
        exact_is_batch(mixed_functions.MODEL, list(mixed_functions.FUNCTION), ["eta"], count=12)
        > 200
    )


@pytest.mark.parametrize("name", ["lemmaD7", "stepD7", "lemmaD8", "stepD8"])
def test_lemmas_hold_and_false_variants_are_refuted(name):
    assert ft.check(f"mixed.{name}", budget=0.2).status == "holds"
    refuted(weakened(f"mixed.{name}"))
    refuted(ft.claim(f"mixed.{name}").without("convex"))
