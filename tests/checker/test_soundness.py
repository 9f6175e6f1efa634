"""True statements of textbooks are never called violated, and the tight ones are found tight."""

from fractions import Fraction
from types import SimpleNamespace

import pytest
from sympy import Eq, Rational

from fedtheory import discover
from fedtheory.models import by_name, fitting, losses
from fedtheory.symbols.run import N, T, a, sq_x, sq_y
from fedtheory.verdicts import pipeline
from fedtheory.verdicts.model_search import explain_unfit
from fedtheory.verdicts.verdict import Verdict
from tests.checker import (
    adversarial_claims,
    forgotten_laws,
    hostile_methods,
    random_orders,
    random_variants,
    soundness,
    vanishing_factors,
)
from tests.checker.known_statements import FALSE, TIGHT, TRUE, reach_ratio


@pytest.mark.parametrize("name", TRUE)
def test_a_true_statement_is_not_refuted(name):
    assert fitting(TRUE[name]), explain_unfit(TRUE[name])
    for seed in range(2):
        verdict = pipeline.check(TRUE[name], budget=0.03, seed=seed)
        assert verdict.status in ("holds", "proved", "undecided"), verdict.witness
        assert verdict.tightness is None or verdict.tightness <= 1


@pytest.mark.parametrize("name", [name for name in TIGHT if name != "gd_gradient"])
def test_a_tight_statement_is_found_tight(name):
    assert 0.99 <= reach_ratio(TRUE[name], 0.99, 4.0) <= 1


@pytest.mark.slow
def test_a_worst_case_that_needs_a_bump_between_two_points_is_found():
    # Slope L, -L, L: equal gradients at x_0 and x_1 with the least descent between them.
    claim = TRUE["gd_gradient"]
    setting = by_name("run_fedsgd")
    curve = losses.curve_from_pieces(
        [Fraction(1), Fraction(-1), Fraction(1)], [Fraction(1), Fraction(3, 2)]
    )
    instance = dict(
        N=1,
        S=1,
        T=1,
        K=1,
        convex=0,
        lipschitz=1,
        losses=[dict(curves=[curve])],
        at_star=[],
        x_0=[Fraction(2)],
        noise=[],
    )
    known = setting.constants(instance)
    found = setting.measure(instance, dict(known, eta=Fraction(1)), ["best_sq_grad", "gap_0"])
    assert (
        known["L"] == 1
        and known["mu"] == -1
        and setting.holds(instance) >= {"lipschitz", "bounded_below"}
    )
    assert found["gap_0"] == Fraction(5, 4) and found["best_sq_grad"] == 1  # 4 L gap / (3 T + 2)
    short = claim.replace(assumptions=[*claim.assumes, *claim.unstated, Eq(T, 1), Eq(N, 1)])
    assert 0.99 <= reach_ratio(short, 0.99, 8.0) <= 1


def asked(*questions, budget=0.02, bases=(), said=None):
    said = [] if said is None else said
    return list(
        soundness.campaign(
            questions, budget, soundness.Store(None), bases=bases, say=said.append
        ).values()
    )


@pytest.mark.parametrize("name", adversarial_claims.CASES)
def test_a_hostile_claim_is_answered_soundly(name):
    (found,) = asked(("hostile", name, 0), budget=0.05)
    assert not found["objection"], found


def test_drawn_forms_orders_and_equivalences_are_answered_soundly():
    found = asked(
        *[("vectors", "form", seed) for seed in range(12)],
        *[("drawn", "order", seed) for seed in range(12)],
        *[("drawn", "cells", seed) for seed in range(4)],
        ("drawn", "equivalence", 2),
    )
    assert not [each for each in found if each["objection"]]
    assert {each["status"] for each in found} >= {"violated", "holds"}


def test_laws_of_chance_that_were_never_written_are_not_assumed():
    """By hand, for the seeds that are asked: false where a law is missing."""
    found = asked(*[("forgotten", "law", seed) for seed in range(8)], budget=0.5)
    assert not [each for each in found if each["objection"]]
    truths = [forgotten_laws.forgotten(seed)[1] for seed in range(8)]
    assert {True, False} == {*truths}
    assert {("violated", False), ("holds", True)} <= {
        (each["status"], true) for each, true in zip(found, truths)
    }


def test_every_statement_that_may_lack_a_law_is_drawn():
    """With and without its laws, over sixty seeds."""
    seen = {forgotten_laws.forgotten(seed)[0].id for seed in range(60)}
    assert seen == {f"forgotten.{name}" for name in forgotten_laws.BASES}
    assert forgotten_laws.allowed_statuses(False) == {"violated", "undecided"}


def test_the_truth_of_a_drawn_order_is_that_of_its_powers():
    half = Rational(1, 2)
    assert random_orders.is_dominated([half, half, 0], [[1, 0, 0], [0, 1, 0]])  # sqrt(a b) <= a + b
    assert not random_orders.is_dominated([1, 1, 0], [[1, 0, 0], [0, 1, 0]])  # a b is not
    assert random_orders.is_dominated([0, 0, -1], [[0, 0, 0]]) and not random_orders.is_dominated(
        [0, 0, 1], [[0, 0, 0]]
    )  # n >= 1


SOME = (
    "mixed.lemmaD2",
    "mixed.lemmaD8",
    "fsl.eq10",
    "fsl.h_lower",
    "mixed.propD6",
    "fsl.step_G3_G4",
)


@pytest.fixture(scope="module")
def bases():
    return tuple(
        (name, each["status"], each["tightness"])
        for name, each in zip(SOME, asked(*[("base", name, 0) for name in SOME]))
    )


@pytest.mark.slow
def test_drawn_relatives_of_recorded_claims_are_judged_soundly(bases):
    found = asked(*[("relatives", 0, n) for n in range(16)], bases=bases)
    assert not [each for each in found if each["objection"]]
    kinds = {
        random_variants.drawn_relative(soundness.resolve_bases(bases), 0, n).kind for n in range(40)
    }
    assert kinds == {"weaker", "removed", "false"}


def test_wrong_verdicts_on_relatives_would_be_told():
    """By hand: D.8 with half its bound fails, without convexity it fails, and neither is to be
    called otherwise."""
    base = discover.claim("mixed.lemmaD8")
    cases = random_variants.drawn_cases(base, 6, 0)
    half = random_variants.Relative(base.replace("x", bound=base.bound / 10**6), base, "weaker", "")
    assert "follows from" in random_variants.objection(
        half, Verdict("x", "violated", "exact"), cases
    )
    assert "but line 1 fails" in random_variants.objection(
        half, Verdict("x", "holds", "exact"), cases
    )
    assert "a false claim is proved" in random_variants.objection(
        half._replace(kind="false"), Verdict("x", "proved", ""), cases
    )
    assert "tightness of 1.3" in random_variants.objection(
        half, SimpleNamespace(status="holds", tightness=1.3)
    )
    assert "hypotheses hold" in random_variants.objection(
        half, Verdict("x", "vacuous", "", "They contradict."), cases
    )
    assert (
        random_variants.objection(
            half._replace(claim=base), Verdict("x", "holds", "exact", tightness=1.0), cases
        )
        == ""
    )


def test_a_removed_hypothesis_must_fail_where_the_relative_does():
    base = TRUE["young"].replace(
        "house.short", assumptions=[a <= 1], bound=5 * sq_x / a + 5 * sq_y / a
    )
    dropped = base.without(base.assumes[0].name).replace("house.long", bound=sq_x / 10)
    verdict = pipeline.check(dropped, budget=0.05)
    made = random_variants.Relative(dropped, base, "removed", "", base.assumes)
    values = dict(verdict.certificate["values"], a="1/2")
    assert verdict.status == "violated"
    verdict.certificate = dict(verdict.certificate, values=values, numbers=dict(a="1/2"))
    assert "meets what was dropped" in random_variants.objection(made, verdict)
    verdict.certificate = dict(verdict.certificate, values=dict(values, a="2"), numbers=dict(a="2"))
    assert random_variants.objection(made, verdict) == ""


def test_a_base_is_refuted_by_the_instance_or_the_relative_s_verdict_is_wrong(monkeypatch):
    monkeypatch.setattr(soundness, "LONGER", 1e-6)
    true, false = TRUE["young"], FALSE["young.no_inverse"]
    verdict = pipeline.check(false.replace("house.relative", kind="exact"), budget=0.5)
    assert verdict.status == "violated"
    assert soundness.fails_too(false, verdict, 1e-6, 0)  # though no search would find it
    assert not soundness.fails_too(true, verdict, 0.5, 0)


def test_the_campaign_would_tell_and_goes_on_where_it_was(tmp_path, monkeypatch):
    monkeypatch.setitem(soundness.TRUE, "wrong", FALSE["young.no_inverse"])
    monkeypatch.setitem(soundness.TRUE, "right", TRUE["young"])
    asked_for, said = [("textbook", name, 0) for name in ("right", "wrong", "absent")], []
    found = soundness.campaign(asked_for, 0.05, soundness.Store(tmp_path, 0.05), say=said.append)
    assert [bool(each["objection"]) for each in found.values()] == [False, True, True]
    assert (
        "crash" == found["textbook/absent/0"]["status"]
        and sum("WRONG" in line for line in said) == 2
    )
    monkeypatch.setattr(soundness, "answer", None)  # nothing is asked again
    again = soundness.campaign(asked_for, 0.05, soundness.Store(tmp_path, 0.05))
    assert again == found and soundness.Store(tmp_path, 0.06).found == {}


@pytest.mark.slow
def test_a_relative_that_a_family_refutes_is_asked_of_its_base():
    """What theorem B.1 counts has no end, with 100 added to its shape as without: a family says so,
    which is no instance to ask the theorem of."""
    base = discover.claim("mixed.theoremB1_nonconvex")
    (left, sign, right), *_ = base.lines
    weaker = base.replace(name=f"{base.id}.weaker", lines=[(left, sign, right + 100)])
    verdict = pipeline.check(weaker, budget=5.0, seed=463)
    assert verdict.status == "violated" and "setting" not in verdict.certificate
    assert soundness.fails_too(base, verdict, 0.02, 463)


def _point(claim, values):
    """What a claim's hypotheses, then its line, say at numbers."""
    at = {
        symbol: values[symbol.name]
        for symbol in (
            vanishing_factors.U,
            vanishing_factors.V,
            vanishing_factors.W,
            vanishing_factors.COUNT,
        )
    }
    left, sign, right = claim.lines[0]
    gap = (right - left if sign == "<=" else left - right).subs(at)
    return all(bool(a.relation.subs(at)) for a in claim.assumptions), bool(gap >= 0)


@pytest.mark.parametrize("kind", vanishing_factors.KINDS[:-1])
def test_claims_under_factors_are_what_they_are_said_to_be(kind):
    """On a grid of rational numbers, those at which a factor vanishes among them."""
    grid = {Rational(a, b) for a in range(1, 6) for b in (1, 2, 3)}
    grid = sorted(grid | {Rational(1, 100), Rational(50)})
    for seed in range(4):
        claim, truth = vanishing_factors.draw_claim(kind, seed)
        one, other = sorted(
            claim.lines[0][0].free_symbols | claim.assumptions[0].relation.free_symbols, key=str
        )[:2]
        found = [
            _point(claim, {**dict.fromkeys("uvwn", Rational(100)), one.name: x, other.name: y})
            for x in grid
            for y in grid
            if not (one.is_integer and x.q > 1 or other.is_integer and y.q > 1)
        ]
        assert truth == all(met for good, met in found if good), vanishing_factors.with_assumptions(
            claim
        )


def test_programs_of_hostile_methods_are_asked_of_each_trait():
    asked = soundness.questions("methods", SimpleNamespace(drawn=20, only=""))
    assert {trait for _, trait, _ in asked} == set(hostile_methods.TRAITS)
    assert len(asked) == 2 * len(hostile_methods.TRAITS)
    refused = [each for each in asked if each[1] in ("gossip", "norm", "origin")]
    found = soundness.campaign(refused, 0.02, soundness.Store(None), say=print)
    assert len(found) == 6
    assert {each["status"] for each in found.values()} == {adversarial_claims.REFUSED}
    assert not any(each["objection"] for each in found.values())


def test_steps_with_premises_of_something_else_are_answered_soundly():
    kinds = ("other_rules", "other_definitions", "start_alone", "some_constants", "other_weights")
    found = asked(*[("graphs", kind, seed) for kind in kinds for seed in range(4)])
    assert not [each for each in found if each["objection"]]


def test_a_step_that_is_wrongly_proved_would_be_told(monkeypatch):
    draw = soundness.premises.draw
    told = lambda: [
        e["objection"][:7]
        for e in asked(("graphs", "other_rules", 0), ("graphs", "other_rules", 1))
    ]
    assert told() == ["", ""]
    swapped = lambda name, seed: draw(name, seed)._replace(follows=not seed % 2)
    monkeypatch.setattr(soundness.premises, "draw", swapped)
    assert told() == ["it foll", "it does"]


@pytest.mark.parametrize("kind", vanishing_factors.KINDS)
def test_a_factor_that_may_vanish_is_not_divided_by(kind):
    """A sample of `python -m tests.checker.soundness factors`; the rest is for that command."""
    for seed in range(12):
        _, objection = soundness.of_factors(kind, seed, 0.05)
        assert not objection
