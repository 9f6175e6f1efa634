"""Vacuity: hypotheses that exclude each other, bounds that say nothing, coefficients that turn
negative."""

import json
from types import SimpleNamespace

import pytest
from sympy import Eq, Rational

import fedtheory as ft
from fedtheory import discover
from fedtheory.certificates.check_proof import Refused
from fedtheory.language import conditions
from fedtheory.language.claim import Claim
from fedtheory.language.conditions import Along, Condition, Confined
from fedtheory.language.symbol import LOSS, SQ_GRADIENT, Table
from fedtheory.models import fitting
from fedtheory.verdicts import vacuity
from fedtheory.verdicts.status import VACUOUS

anything = lambda problem, setup=None: True
BOUNDED = Condition(
    "bounded_gradient", "gradients are at most M", anything, ("M",), (Along("bounded", "M"),)
)


def table():
    found = Table("invented")
    L, mu, M = (
        found.positive("L", "L", ""),
        found.positive("mu", "mu", ""),
        found.positive("M", "M", ""),
    )
    x, y = found.positive("x", "x", ""), found.positive("y", "y", "")
    best = found.measured(
        "best", "b", "", SQ_GRADIENT, "sq_grad_norm", "min", "E", domain="nonnegative"
    )
    D = found.measured("D", "D", "", LOSS, "loss", "0", minus="inf", domain="nonnegative")
    return SimpleNamespace(
        table=found,
        L=L,
        mu=mu,
        M=M,
        x=x,
        y=y,
        best=best,
        D=D,
        h=found.define("h", "h", "", 1 - x * y, domain="real"),
    )


def invented(t, **given):
    return Claim(
        **{
            **dict(id="invented.it", cites="nowhere", symbols=t.table, measures=t.x, bound=t.y),
            **given,
        }
    )


def examined(claim):
    """(VACUOUS or None, why, notes, document) of a claim's hypotheses and bound."""
    found, notes = vacuity.examine_hypotheses(claim)
    if found is None:
        return None, "", [*notes], None
    return VACUOUS, found.says, [*found.notes], found.document


def test_numbers_that_contradict_each_other():
    t = table()
    status, why, _, proof = examined(invented(t, assumes=(t.x >= 2 * t.y, t.y >= t.x + 1)))
    assert status == "vacuous" and "contradict" in why
    assert ft.replay(json.loads(json.dumps(proof)))["shows"] == ["<=", "1", "0"]
    proof["assumes"][0] = [">=", "x", "y"]  # y >= x + 1 alone is met
    proof["assumes"][1] = [">=", "y", "x"]
    with pytest.raises(Refused):
        ft.replay(proof)
    assert examined(invented(t, assumes=(t.x >= 2 * t.y, t.y >= t.x - 1))) == (None, "", [], None)


def test_strong_convexity_and_a_gradient_bound_exclude_each_other_on_all_of_space():
    t = table()
    both = (conditions.STRONGLY_CONVEX, BOUNDED, conditions.SMOOTH)
    status, why, _, proof = examined(invented(t, assumes=both))
    assert status == "vacuous" and "strongly convex" in why and "L-smooth" not in why
    # By hand: mu s <= g_y - g_x <= 2 M.
    assert ft.replay(proof)["shows"] == ["<=", ["*", "mu", "s"], ["*", "2", "M"]]
    for one in both:
        assert examined(
            invented(t, assumes=tuple(a for a in both[:2] if a is not one) + (conditions.SMOOTH,))
        )[0] == ("vacuous" if one is conditions.SMOOTH else None)
    # A name means nothing to proofs: what a condition means, it carries.
    named = Condition("strongly_convex", "its name alone", anything, ("mu",))
    assert examined(invented(t, assumes=(named, BOUNDED)))[0] is None
    stays = Condition("stays", "iterates stay in a bounded set", anything, means=(Confined(),))
    status, _, notes, _ = examined(invented(t, assumes=(*both, stays)))
    assert status is None and "stay in a bounded set" in notes[0]


def test_a_curvature_above_smoothness_is_met_by_no_loss():
    t = table()
    both = (conditions.STRONGLY_CONVEX, conditions.SMOOTH)
    assert examined(invented(t, assumes=(*both, t.mu >= 2 * t.L)))[0] == "vacuous"
    assert examined(invented(t, assumes=(*both, 2 * t.mu >= t.L)))[0] is None


def test_the_letters_of_a_paper_name_its_own_gradient_bound():
    claim = discover.claim("flex.theorem3_1")
    status, _, notes, _ = examined(claim)
    assert status is None and "only because iterates stay" in notes[0]
    verdict = ft.check(claim.without("stays"), budget=1.0)
    assert verdict.status == "vacuous" and verdict.confidence == 1.0
    assert ft.replay(verdict.certificate)["shows"] == ["<=", ["*", "mu", "s"], ["*", "2", "G"]]


def test_a_bound_that_never_beats_the_trivial_one_is_vacuous():
    t = table()  # best <= ||grad f(x_0)||^2 <= 2 L D
    claim = invented(
        t, measures=t.best, bound=2 * t.L * t.D * (1 + t.x), assumes=(conditions.SMOOTH,)
    )
    status, why, _, proof = examined(claim)
    assert status == "vacuous" and "2 L" in why and ft.replay(proof)
    assert examined(claim.without("smooth"))[:3] == (None, "", [])


def test_the_share_of_draws_at_which_a_bound_says_nothing_and_what_drives_it():
    t = table()  # beaten exactly where x < 1
    claim = invented(t, measures=t.best, bound=2 * t.L * t.D * t.x, assumes=(conditions.SMOOTH,))
    status, _, (note,), _ = examined(claim)
    assert status is None and "mostly where x is large" in note
    assert 0.2 < int(note.split("%")[0].split()[-1]) / 100 < 0.8
    assert (
        examined(claim.replace(bound=claim.bound, assumptions=(conditions.SMOOTH, t.x < 1)))[2]
        == []
    )
    assert examined(claim.replace(measures=t.best * t.y, bound=claim.bound * t.y))[2] == [note]


def test_a_coefficient_that_turns_negative_is_found_in_numbers():
    t = table()
    _, _, (note,), _ = examined(invented(t, measures=t.h * t.best, bound=t.D, assumes=(t.y <= 3,)))
    numbers = dict(part.split(" = ") for part in note.split("at ")[-1].split(", "))
    assert Rational(numbers["x"]) * Rational(numbers["y"]) > 1 and Rational(numbers["y"]) <= 3
    for more in (t.x * t.y <= 1, Eq(t.x, Rational(1, 3))):  # h >= 0 there
        assert not examined(
            invented(t, measures=t.h * t.best, bound=t.D, assumes=(t.y <= 3, more))
        )[2]
    assert not examined(invented(t, measures=t.h, bound=t.D))[2]  # no coefficient


def test_the_step_condition_of_theorem1_does_not_keep_its_coefficient_positive():
    (note,) = examined(discover.claim("fsl.theorem1"))[2]
    at = {
        name: Rational(value)
        for name, value in (part.split(" = ") for part in note.split("at ")[-1].split(", "))
    }
    claim = discover.claim("fsl.theorem1")
    h = claim.expand(next(s for s in claim.definitions if s.name == "h"))
    assert h.subs({s: at[s.name] for s in h.free_symbols}) < 0
    for assumption in claim.assumptions:
        if assumption.relation is not None:
            relation = claim.expand(assumption.relation)
            assert bool(relation.subs({s: at[s.name] for s in relation.free_symbols}))


def for_some(t):
    """A table with a constant c >= 0 that a text leaves open."""
    return t.table.some("c", "c", "any number will do")


def test_a_bound_with_a_constant_that_is_chosen_last_says_nothing():
    t = table()  # x <= y + c, at c = x
    c = for_some(t)
    claim = invented(t, bound=t.y + c * t.L)
    status, why, _, proof = examined(claim)
    assert (
        status == "vacuous"
        and "some value of c" in why
        and ft.replay(json.loads(json.dumps(proof)))["shows"]
    )
    assert fitting(claim) == [] and ft.check(claim, budget=0.3).status == "vacuous"


@pytest.mark.parametrize(
    "bound, assumes",
    [
        (lambda t, c: t.y + c * (t.x - t.y), lambda t, c: ()),  # what multiplies it may vanish
        (lambda t, c: t.y - c, lambda t, c: ()),  # it helps at 0 alone, where x <= y is false
        (lambda t, c: t.y + c, lambda t, c: (c <= 1,)),  # only small values are meant
    ],
)
def test_where_no_value_is_sure_to_do_nothing_is_said(bound, assumes):
    t = table()
    c = for_some(t)
    verdict = ft.check(invented(t, bound=bound(t, c), assumes=assumes(t, c)), budget=0.3)
    assert verdict.status == "undecided" and "some value of c" in verdict.why


def test_an_equation_that_fixes_an_open_constant_closes_it():
    t = table()
    c = for_some(t)
    assert (
        ft.check(invented(t, bound=c, assumes=(Eq(c, t.x / 2),)), budget=0.5).status == "violated"
    )
    assert ft.check(invented(t, bound=c, assumes=(Eq(c, 2 * t.x),)), budget=0.5).status in (
        "holds",
        "proved",
    )


@pytest.mark.parametrize("name", ["lamb.theorem1", "lamb.theorem1_appendix"])
def test_the_theorem_with_an_open_constant_says_nothing(name):
    """'+ cst.': the left side is at most the right one at cst. = the left side; with the proof's
    own terms it is false."""
    assert ft.check(name, budget=2.0).status == "vacuous"
