"""What is handed in with a claim and refused: in one sentence that names the claim and the value,
before any work."""

from fractions import Fraction as Q

import numpy as np
import pytest
from sympy import And, Eq, Rational, Symbol, sqrt

import fedtheory as ft
from fedtheory import discover
from fedtheory.errors import InvalidInput
from fedtheory.language.claim import Claim
from fedtheory.language.conditions import CONVEX, Along, Assumption, Condition
from fedtheory.models import fitting
from fedtheory.search.strategies import cases
from fedtheory.symbols.run import TABLE, L, eta, gap_0, gap_T, lam, mu, sq_distance_0

SQUARE = Claim(
    id="house.square",
    cites="by hand",
    symbols=TABLE,
    measures=lam**2,
    bound=lam,
    assumes=(mu <= L,),
)
NO_HYPOTHESES = (
    "lam <= 1",
    lambda x: x,
    True,
    None,
    5,
    1.5,
    Symbol("lam"),
    lam,
    object(),
    [mu <= L],
    Assumption("lam <= 1"),
    Assumption(None),
    Assumption(mu <= L, where=3),
    Condition("", "says", print),
    Condition("odd", "says", "text"),
    Condition("odd", "says", print, "L"),
    Condition("odd", "says", print, ("L",), ("curved",)),
    Condition("odd", "says", print, ("L",), Along("curved", "L")),
    Symbol("p") | Symbol("q"),
)


def refused(words, do, *given, **named):
    with pytest.raises(InvalidInput, match=words) as caught:
        do(*given, **named)
    text = str(caught.value)
    assert len(text) < 400 and "\n" not in text and ("; got " in text or "takes" in text)


@pytest.mark.parametrize("wrong", NO_HYPOTHESES, ids=lambda w: type(w).__name__)
def test_only_relations_conditions_and_assumptions_are_hypotheses(wrong):
    """Anything else would be printed by `explain` and ignored by a search: a true claim would be
    violated."""
    words = r"house.square: (replace: assumptions: )?a hypothesis must be a SymPy relation"
    refused(
        words,
        Claim,
        id="house.square",
        cites="x",
        symbols=TABLE,
        measures=lam**2,
        bound=lam,
        assumes=(wrong,),
    )
    refused(
        words,
        Claim,
        id="house.square",
        cites="x",
        symbols=TABLE,
        measures=lam**2,
        bound=lam,
        unstated=(wrong,),
    )
    refused(words, SQUARE.replace, assumptions=(mu <= L, wrong))


@pytest.mark.parametrize(
    "wrong",
    ["lam <= 1", 5, CONVEX, {mu <= L: 1}, Eq(mu, L), None],
    ids=lambda wrong: str(getattr(wrong, "name", wrong)),
)
def test_hypotheses_come_as_a_sequence(wrong):
    refused(
        "house.square: must be a sequence of hypotheses|house.square must be a sequence",
        Claim,
        id="house.square",
        cites="x",
        symbols=TABLE,
        measures=lam**2,
        bound=lam,
        assumes=wrong,
    )


def test_relations_conjunctions_conditions_and_what_sympy_decides_are_hypotheses():
    kept = SQUARE.replace(
        assumptions=[
            And(mu <= L, lam <= Rational(1, 2)),
            CONVEX,
            Assumption(lam >= 0, "(1)"),
            lam < 2,
            L > 0,
        ]
    )  # the last is true by the symbol's domain
    assert len(kept.assumes) == 5 and kept.admits(dict(lam=Q(3, 4), mu=1, L=2))
    assert [a.name for a in SQUARE.replace(assumptions=iter([CONVEX])).assumes] == ["convex"]


@pytest.mark.parametrize(
    "change, words",
    [
        (dict(bound=None), "house.square: replace: bound must be an expression"),
        (dict(bound="lam"), "house.square: bound must be a finite real number, or a SymPy"),
        (dict(bound=[lam]), "house.square: bound must be"),
        (dict(bound=object), "house.square: bound must be"),
        (dict(bound=True), "house.square: bound must be"),
        (dict(bound=float("nan")), "house.square: bound must be"),
        (dict(bound=float("inf")), "house.square: bound must be"),
        (dict(bound=lam <= 1), "house.square: bound must be"),
        (dict(bound=sqrt(-2) * lam), "house.square: bound must be"),
        (dict(weakened="1"), "house.square: weakened must be"),
        (dict(measures=None), "house.square: measures must be an expression"),
        (dict(measures=["loss"]), "measures must be an expression or one of"),
        (dict(also=((lam, "<=", "L"),)), "house.square: a line's right side must be"),
        (dict(also=((lam, "<="),)), "house.square: a line must be"),
        (dict(also=((lam, "=<", L),)), "house.square: a line"),
        (dict(symbols=5), "house.square: symbols must be a Table"),
        (
            dict(statement=5),
            "house.square: statement must be a record of fedtheory.language.statements",
        ),
        (dict(says="in words"), "house.square: says must be left out of Lines"),
        (dict(compares=("x",)), "house.square: compares must be left out of Lines"),
        (
            dict(kind="finding"),
            "house.square: bound must be left out of a finding, which is a sentence",
        ),
        (dict(relation=["<="]), "house.square: relation must be"),
        (dict(kind="lemma"), "house.square: kind must be"),
        (dict(algorithm=5), "house.square: algorithm must be a method, the name of a method"),
        (dict(name="x" * 300), "a claim's id must be a name"),
        (dict(name=""), "a claim's id must be"),
        (dict(name="a\x1b[31m"), "a claim's id must be"),
        (dict(name="a\nb"), "a claim's id must be"),
        (dict(name="a\u202eb"), "a claim's id must be"),
        (dict(name=5), "a claim's id must be"),
        (dict(assumes_=1), "replace takes name, assumptions"),
    ],
    ids=repr,
)
def test_a_record_is_refused_in_one_sentence(change, words):
    refused(words, SQUARE.replace, **change)


def test_a_claim_needs_its_table():
    refused("house.x: symbols must be a Table; got 5", Claim, id="house.x", cites="x", symbols=5)


@pytest.mark.parametrize(
    "values, more, words",
    [
        (None, {}, "values must be a mapping"),
        ([("lam", 1)], {}, "values must be a mapping"),
        ("lam", {}, "values must be a mapping"),
        (dict(lam="٣"), {}, "lam must be a finite number"),
        (dict(lam="1²"), {}, "lam must be a finite number"),
        *(
            (dict(lam=1), dict(line=line), "line must be an integer from 0 to 0")
            for line in (-1, 99, "0", None, 0.0, True)
        ),
    ],
    ids=repr,
)
def test_numbers_are_refused_in_one_sentence(values, more, words):
    refused(words, SQUARE.evaluate, values, **more)
    refused(words, SQUARE.evaluate_left, values, **more)


@pytest.mark.parametrize(
    "do", [ft.check, ft.mutate, ft.minimise, ft.audit], ids=lambda f: f.__name__
)
@pytest.mark.parametrize(
    "wrong",
    [
        dict(seed=float("nan")),
        dict(seed="0"),
        dict(seed=None),
        dict(seed=-1),
        dict(seed=True),
        dict(budget=float("inf")),
        dict(budget=float("nan")),
        dict(budget=None),
        dict(budget="1"),
        dict(budget=0),
        dict(budget=True),
    ],
    ids=repr,
)
def test_budgets_and_seeds_are_looked_at_first(do, wrong):
    refused(f"{next(iter(wrong))} must be", do, "fsl.gradient_identity", **wrong)


def test_numpy_s_numbers_are_numbers():
    assert ft.check(SQUARE, budget=np.float64(0.1), seed=np.int64(1)).status in ("proved", "holds")


@pytest.mark.parametrize("name", ["flex.table3_C_best", "fsl.table3", "fsl.corollary1"])
def test_cases_of_what_has_no_line_with_constants_are_refused(name):
    refused("claim must have a line with constants", cases, name)


# What a setting has to vouch for

UNKNOWN = Condition("tame", "the losses are tame", lambda problem, setup: True)


def test_a_condition_that_nobody_vouches_for_leaves_it_undecided():
    """It might be just what makes the statement true."""
    false = SQUARE.replace("house.tame", (UNKNOWN,), bound=lam**2 / 2)
    assert (
        ft.check(SQUARE.replace("house.wild", (), bound=lam**2 / 2), budget=0.5).status
        == "violated"
    )
    verdict = ft.check(false, budget=0.5)
    assert verdict.status == "undecided" and "the losses are tame" in verdict.why
    on_a_run = Claim(
        id="house.run",
        cites="x",
        symbols=TABLE,
        measures=gap_T,
        bound=gap_0 / 100,
        algorithm="fedsgd",
        assumes=(UNKNOWN,),
    )
    verdict = ft.check(on_a_run, budget=0.5)
    assert verdict.status == "undecided" and "the losses are tame" in verdict.why
    order = Claim(
        id="house.order",
        cites="x",
        symbols=TABLE,
        measures=gap_T,
        bound=eta * L * gap_0,
        kind="order",
        relation="O",
        algorithm="fedsgd",
        assumes=(UNKNOWN,),
    )
    assert ft.check(order, budget=0.5).status == "undecided"
    assert (
        ft.check(SQUARE.replace("house.sure", (UNKNOWN,)), budget=0.5).status == "proved"
    )  # without it, even
    for mutant in ft.mutate(SQUARE.replace("house.tamer", (UNKNOWN,)), budget=0.5).mutants:
        assert not mutant.killed or mutant.at[0] == "condition"


# A run's method


def test_a_run_s_method_has_to_be_named():
    """Steps of one method are no steps of another: eta belongs to no round of FedAvg."""
    claim = Claim(
        id="house.rate",
        cites="x",
        symbols=TABLE,
        measures=gap_T,
        bound=L * sq_distance_0,
        assumes=(CONVEX, eta * L <= 1),
    )
    for do in (
        lambda: ft.check(claim, budget=0.2),
        lambda: ft.mutate(claim, budget=0.2),
        lambda: ft.minimise(claim, budget=0.2),
        lambda: cases(claim),
        lambda: fitting(claim),
    ):
        refused(
            "house.rate: algorithm must name the method on whose run gap_T is measured, such as fedavg, fedsgd, scaffold",
            do,
        )
    named = {s.name for s in fitting(claim.replace(algorithm="fedsgd"))}
    assert named == {"run_fedsgd", "run_large_fedsgd"}
    refused(
        "algorithm must be one of data_sharing, ",
        lambda: ft.check(claim.replace(algorithm="fedavgm"), budget=0.2),
    )


def test_what_is_measured_before_anything_runs_needs_no_method():
    start = Claim(
        id="house.start",
        cites="x",
        symbols=TABLE,
        measures=gap_0,
        bound=L / 2 * sq_distance_0,
        assumes=(CONVEX,),
    )
    assert fitting(start) and ft.check(start, budget=0.1).status in ("holds", "proved")
    assert {s.algorithms for s in fitting(start)} == {("fedsgd",), ("fedavg",), ("scaffold",)}


def test_every_record_names_the_method_of_its_run():
    for claim in discover.claims():
        if claim.lines:
            fitting(claim)
