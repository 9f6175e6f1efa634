"""Hypotheses whose part is known from textbooks: those needed are found with counterexamples, idle
ones dropped."""

import json

import pytest
from sympy import Rational

import fedtheory as ft
from fedtheory.errors import InvalidInput
from fedtheory.language.claim import Claim
from fedtheory.language.conditions import CONVEX, SMOOTH
from fedtheory.symbols.run import (
    TABLE,
    L,
    f_mix,
    f_x,
    f_y,
    inner_change,
    inner_xy,
    lam,
    mu,
    sq_change,
    sq_xy,
)


def house(name, left, sign, right, *assumes, **more):
    return Claim(
        id=f"house.{name}",
        cites=name,
        symbols=TABLE,
        measures=left,
        relation=sign,
        bound=right,
        assumes=assumes,
        **more,
    )


def names(assumptions):
    return [a.name for a in assumptions]


def test_convexity_is_idle_in_a_descent_lemma():
    """It takes smoothness alone (Nesterov, lemma 1.2.3)."""
    found = ft.minimise(
        house("descent", f_y, "<=", f_x + inner_xy + L / 2 * sq_xy, SMOOTH, CONVEX), budget=1.5
    )
    assert "convex" in names(found.not_needed) and "convex" not in names(found.smallest)
    assert found.final.status in ("holds", "proved")


def test_cocoercivity_needs_convexity_but_no_bound_on_L():
    """Nesterov, theorem 2.1.5; without convexity, -z^2/2 breaks it."""
    claim = house("cocoercive", inner_change, ">=", sq_change / L, SMOOTH, CONVEX, L <= 100)
    found = ft.minimise(claim, budget=3.0)
    assert names(found.needed) == ["smooth", "convex"] and "L <= 100" in names(found.not_needed)
    assert "convex" in names(found.smallest) and "L <= 100" not in names(found.smallest)
    for verdict in [row[2] for row in found.rows if row[1] == "needed"]:
        assert ft.replay(json.loads(json.dumps(verdict.certificate)))["status"] == "violated"
    assert "needed: " in str(found) and json.loads(json.dumps(found.as_dict()))["smallest"] == [
        str(a) for a in found.smallest
    ]


def test_a_number_s_range_is_needed_and_a_wider_one_is_idle():
    """Jensen's inequality with half the weight asks lam <= 1/2; lam <= 3/4 besides adds nothing."""
    claim = house("half", lam**2, "<=", lam / 2, lam <= Rational(1, 2), lam <= Rational(3, 4))
    found = ft.minimise(claim, budget=2.0)
    assert [str(a) for a in found.needed] == ["lam <= 1/2"] and [
        str(a) for a in found.smallest
    ] == ["lam <= 1/2"]


def test_each_of_two_suffices_so_only_one_is_dropped():
    claim = house("either", lam**2, "<=", lam / 2, lam <= Rational(1, 2), 3 * lam <= Rational(3, 2))
    found = ft.minimise(claim, budget=2.0)
    assert found.needed == [] and len(found.not_needed) == 2 and len(found.smallest) == 1


def test_what_does_not_stand_is_left_alone():
    false = house("false", f_mix, "<=", lam * f_x, CONVEX)
    found = ft.minimise(false, budget=1.0)
    assert (
        found.verdict.status == "violated" and found.rows == [] and "does not stand" in str(found)
    )


@pytest.mark.parametrize(
    "given, words",
    [
        (dict(budget=0), "budget must be a positive"),
        (dict(claim="fsl.nothing"), "claim must be an id"),
    ],
)
def test_refusals(given, words):
    with pytest.raises(InvalidInput, match=words):
        ft.minimise(**{"claim": house("x", f_y, "<=", mu * f_x), **given})


@pytest.mark.slow
def test_a_constant_that_nothing_certifies_is_any_number():
    """Without its hypothesis G has nothing to do with the losses: the bound fails at G = 0."""
    claim = ft.claim("fsl.theorem1").without("dissimilar")
    assert "any_G" in claim.parameters and "G" not in claim.parameters
    verdict = ft.check(claim, budget=5.0)
    assert verdict.status == "violated" and ft.replay(verdict.certificate)["status"] == "violated"
    # L stays what it is while one of the two hypotheses that certify it is left
    assert "L" in ft.claim("fsl.theorem1").without("smooth").parameters
    assert "any_L" in ft.claim("fsl.theorem1").without("smooth", "lipschitz").parameters


def test_a_shape_at_which_nothing_can_be_measured_is_passed_over():
    """Without the hypothesis that devices work at all, some laws have no complete round to
    weigh."""
    claim = ft.claim("flex.bias_A_B")
    assert len(ft.minimise(claim, budget=2).rows) == len([*claim.assumes, *claim.unstated])
