"""What a verdict says of its search: where it looked, and that no instance which speaks against it
is passed over."""

import re

import pytest
from sympy import Eq, Max, Rational, log, sqrt

import fedtheory as ft
from fedtheory import discover
from fedtheory.app.check_command import describe_verdict
from fedtheory.app.ledger import build_ledger
from fedtheory.errors import InvalidInput
from fedtheory.language.claim import Claim
from fedtheory.language.symbol import Table
from fedtheory.models import by_name
from fedtheory.proofs import refutation
from fedtheory.search.coverage import Coverage, describe_ranges
from fedtheory.verdicts.case import Case
from fedtheory.verdicts.combination import conclude, merge_models
from fedtheory.verdicts.model_search import search_model
from fedtheory.verdicts.verdict import Tightness, Verdict

TABLE = Table("invented")
x, y = (TABLE.positive(name, name, "") for name in "xy")
z = TABLE.nonnegative("z", "z", "")


def numbers(bound, *assumes):
    """y <= bound, whatever the positive x and the nonnegative z."""
    return Claim(
        id="invented.numbers",
        cites="nowhere",
        symbols=TABLE,
        measures=y,
        bound=bound,
        assumes=assumes,
    )


# y = 1/2 wherever z <= sqrt(x), an edge that only the root of a square meets for certain
EDGE = (
    Eq(sqrt(x), y * Max(2 * sqrt(x), z, evaluate=False), evaluate=False),
    z <= sqrt(x),
    y <= Rational(1, 2),
)


def test_an_edge_met_through_a_root_is_met_where_the_root_is_rational():
    verdict = ft.check(numbers(Rational(1, 4), *EDGE), budget=0.5)
    assert verdict.status == "violated" and float(verdict.tightness) == 2.0
    assert ft.replay(verdict.certificate)["left"] == Rational(1, 2)
    found = search_model(Case.of(numbers(Rational(1, 2), *EDGE), 0.3), by_name("numbers"))
    verdict = conclude("an edge", found)
    assert verdict.status == "holds" and verdict.tightness == 1.0


def test_what_seems_to_fail_and_is_not_explained_leaves_a_claim_undecided():
    """y = (log 2 + log 3)/log 6 = 1: no enclosure says that y <= 1, and 1 <= 1/2 is false."""
    one = Eq(y * log(6), log(2) + log(3))
    verdict = ft.check(numbers(Rational(1, 2) + z / (1 + z) / 100, one, y <= 1), budget=0.5)
    assert (
        verdict.status == "undecided"
        and "seems to fail" in verdict.why
        and verdict.tightness is None
    )
    assert ft.check(numbers(2 + z, one, y <= 1), budget=0.5).status in ("proved", "holds")


def test_nothing_holds_beside_a_ratio_above_one():
    with pytest.raises(ValueError, match="cannot hold"):
        Verdict("invented.a", "holds", "exact", tightness=Tightness(1.316))
    with pytest.raises(ValueError, match="cannot hold"):
        Verdict("invented.a", "holds", "exact", tightness=Tightness(float("nan")))
    assert Verdict("invented.a", "holds", "exact", tightness=Tightness(1.0)).tightness == 1


def test_a_verdict_over_settings_is_that_of_all_of_them():
    of = lambda status, tight=None, cases=10, witness=None, **more: Verdict(
        "invented.a",
        status,
        "exact",
        f"{status} {cases}.",
        tight and Tightness(tight),
        cases,
        witness=witness,
        searched=f"{cases} there",
        **more,
    )
    both = merge_models(
        [of("holds", 0.2, 3, {"a": 1}), of("holds", 0.9, 4, {"b": 1}), of("undecided", cases=0)]
    )
    assert (both.status, both.tightness, both.cases, both.witness) == ("holds", 0.9, 7, {"b": 1})
    assert both.searched == "3 there; 4 there; 0 there" and both.why == "holds 3. holds 4."
    doubt = merge_models([of("holds", 0.2), of("undecided", witness={"c": 1})])
    assert doubt.status == "undecided" and doubt.witness == {"c": 1} and doubt.cases == 20
    assert merge_models([of("holds", 0.2), of("violated", 2.0)]).status == "violated"
    assert merge_models([of("undecided", cases=0), of("undecided", cases=0)]).status == "undecided"


def test_only_shapes_with_an_instance_inside_the_hypotheses_are_told():
    setting = by_name("fsl_round")
    looked, hunt_of = Coverage(setting), lambda **parts: type("Hunt", (), parts)()
    shape = dict(N=3, S=2, K=1, K_0=1, d=2, pieces=3, convex=True, soft=0, noise="none", own="tilt")
    hunt = hunt_of(shape=shape, numbers={"T": 5}, admitted=7)
    looked.add(hunt)
    looked.add(
        hunt_of(
            shape=dict(shape, N=1, S=1, K=5, pieces=1, noise="even"), numbers={"T": 5}, admitted=2
        )
    )
    looked.add(hunt_of(shape=dict(shape, N=40, d=9), numbers={"T": 100}, admitted=0))
    looked.add(hunt)  # nothing new
    assert looked.cases == 9
    assert str(looked) == (
        "9 instances of one round of FSL from a known point (N <= 3, S <= 2, K <= 5, K_0 = 1, d = 2, "
        "T = 5; losses of up to 3 quadratic pieces a coordinate, convex; noise: none or two values)"
    )
    assert "nothing in one round" in str(Coverage(setting))
    assert (
        describe_ranges(dict(a={2, 5}, b={1, 4}, c={"10", "30"}, e={3}))
        == "2 <= a <= 5, b <= 4, 10 <= c <= 30, e = 3"
    )


@pytest.mark.slow
def test_a_verdict_says_over_all_settings_what_was_searched():
    verdict = ft.check("fsl.theorem1", budget=1.0)
    assert verdict.status == "holds" and verdict.tightness <= 1
    counts = [int(number) for number in re.findall(r"(\d+) instances of", verdict.searched)]
    assert len(counts) == 2 and sum(counts) == verdict.cases
    assert "N <= 4" in verdict.searched and "one round of FSL from a known point" in verdict.why
    shown = " ".join(describe_verdict(verdict).split())
    assert f"searched: {verdict.searched}" in shown
    assert (
        "the kernels of fsl" in verdict.decided_on and f"decided on: {verdict.decided_on}" in shown
    )
    claim = ft.claim("fsl.theorem1")
    book, _ = build_ledger([claim], {claim.id: verdict.as_dict()}, 1.0, 0)
    assert book["claims"][0]["verdict"]["searched"] == verdict.searched
    assert book["claims"][0]["verdict"]["decided_on"] == verdict.decided_on


SOME = ["mixed.lemmaD8", "mixed.theoremB1_convex"] + [
    c.id for c in discover.claims() if c.kind == "structure"
][:3]


@pytest.mark.parametrize("name", SOME)
def test_whatever_holds_says_what_was_searched(name):
    verdict = ft.check(name, budget=0.5)
    assert verdict.status != "holds" or re.search(r"\d", verdict.searched)


def test_numbers_too_long_to_be_written_down_are_refused_before_anything_is_computed():
    claim = ft.claim("fsl.lemma3")
    for change in (
        dict(bound=claim.bound * Rational(10**4400 + 1, 10**4400)),
        dict(assumptions=[x <= 10**5000]),
    ):
        with pytest.raises(InvalidInput, match="at most 4000 digits; got 'a number of about"):
            claim.replace("invented.long", **change)
    long = numbers(1 + Rational(1, 10**3900), x <= 1 + Rational(1, 10**3900), Eq(y, x), x > 1)
    assert ft.check(long.replace(bound=1 + Rational(1, 10**3950)), budget=0.3).status in (
        "undecided",
        "violated",
    )


def test_a_hypothesis_that_leaves_a_term_without_a_value_is_followed_to_its_limit():
    """FSL without server learning: (11) says u <= min(8/9, eta_g, 1/gamma)/(4 L), and at gamma = 0
    the last is gone."""
    claim = ft.claim("fsl.theorem1")
    gamma = claim.table["gamma"].symbol
    without = claim.replace(
        "invented.fedavg", assumptions=[*claim.assumes, *claim.unstated, Eq(gamma, 0)]
    )
    verdict = ft.check(without, budget=0.5)
    assert verdict.status == "holds" and verdict.tightness <= 1
    assert (
        ft.check(
            without.replace(bound=claim.bound.subs(gamma, 0) - claim.table["sigma"].symbol),
            budget=0.5,
        ).status
        == "violated"
    )


def test_hypotheses_that_contradict_each_other_once_equations_are_used_are_met_by_no_number():
    assert refutation.find_violation(x < y, [Eq(x, 2), x <= 1], {}) is None
    assert refutation.find_violation(x < y, [Eq(x, 1), x <= 1], {}) is not None
