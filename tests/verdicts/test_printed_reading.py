"""The statement as it is printed: what saves it, and what is carried from one reading to another."""

from fractions import Fraction

import pytest
from sympy import Ge, Le

import fedtheory as ft
from fedtheory import discover
from fedtheory.certificates.check_proof import Refused
from fedtheory.figures import _proofs
from fedtheory.language.claim import Claim
from fedtheory.language.conditions import Assumption
from fedtheory.language.symbol import Table
from fedtheory.search import counterexample
from fedtheory.verdicts import pipeline, printed_reading
from fedtheory.verdicts.case import Case
from fedtheory.verdicts.verdict import Verdict

T = Table("numbers")
a, b, c = (T.positive(name, name, "a number") for name in "abc")


def claim(id, *unstated, assumes=(), measures=a, bound=b):
    unstated = [Assumption(rule, f"proof, {n}", stated=False) for n, rule in enumerate(unstated)]
    return Claim(
        id=id,
        cites="numbers",
        symbols=T,
        assumes=assumes,
        unstated=unstated,
        measures=measures,
        bound=bound,
    )


def test_where_everything_is_stated_both_are_one_verdict():
    v = ft.check(claim("stated", assumes=[Le(a, b)]), budget=1)
    assert v.status == "proved" and v.printed is v and v.apart == "" and v.removals == []
    assert v.as_dict()["printed"] is None


def test_one_hypothesis_saves_the_statement():
    v = ft.check(claim("saved", Le(a, b)), budget=1)
    assert (v.status, v.printed.status) == ("proved", "violated")
    assert v.saved_by == ["a <= b [proof, 0, not stated]"]
    found = ft.replay(v.printed.certificate)
    assert found["status"] == "violated" and found["values"]["a"] > found["values"]["b"]
    assert v.removals[0].verdict is v.printed
    assert "As printed: violated." in str(v) and "It needs: a <= b" in str(v)


def test_of_several_hypotheses_only_the_needed_ones_save_it():
    """a <= b needs a <= c and c <= b; a <= 5 b is then of no use."""
    v = ft.check(claim("chain", Le(a, c), Le(c, b), Le(a, 5 * b)), budget=2)
    assert (v.status, v.printed.status) == ("proved", "violated")
    assert [r.saves for r in v.removals] == [True, True, False]
    assert v.removals[2].verdict.status == "proved"
    for removal, (kept, broken) in zip(v.removals, (("c <= b", "a <= c"), ("a <= c", "c <= b"))):
        values = ft.replay(removal.verdict.certificate)["values"]
        order = {"a <= c": ("a", "c"), "c <= b": ("c", "b")}
        low, high = order[kept]
        assert values[low] <= values[high] and values["a"] <= 5 * values["b"]
        low, high = order[broken]
        assert values[low] > values[high]


def test_two_hypotheses_that_save_it_only_together():
    """Either of them implies the line: no removal alone refutes it, both together do."""
    v = ft.check(claim("either", Le(a, b / 2), Le(2 * a, 2 * b)), budget=2)
    assert (v.status, v.printed.status) == ("proved", "violated")
    assert [r.verdict.status for r in v.removals] == ["proved", "proved"] and v.saved_by == []
    assert "Without this alone it is proved" in str(v)


def test_what_needs_nothing_stands_as_printed():
    v = ft.check(claim("needless", Le(c, 1), assumes=[Le(a, b)]), budget=1)
    assert (v.status, v.printed.status, v.removals) == ("proved", "proved", [])
    assert v.apart == "As printed: proved."


def test_an_instance_that_refutes_the_meaning_refutes_what_is_printed():
    v = ft.check(claim("false", Ge(c, 1)), budget=1)
    assert (v.status, v.printed.status, v.removals) == ("violated", "violated", [])
    meant, printed = v.certificate, v.printed.certificate
    assert printed["statement"]["assumes"] == [] and len(meant["statement"]["assumes"]) == 1
    assert {n: Fraction(x) for n, x in printed["numbers"].items() if n != "c"} == {
        n: Fraction(x) for n, x in meant["numbers"].items() if n != "c"
    }


def test_an_instance_outside_another_readings_hypotheses_is_not_carried():
    both = claim("both", Le(a, c), Le(c, b))
    printed = pipeline.as_meant(both.as_printed, 1.0, 0)
    values = ft.replay(printed.certificate)["values"]
    for reading, kept in zip(
        both.lacking.values(), (lambda v: v["c"] <= v["b"], lambda v: v["a"] <= v["c"])
    ):
        carried = printed_reading.reuse_counterexample(both.as_printed, printed, reading)
        assert (carried is not None) == ("c" in values and kept(values))


def test_readings_of_recorded_claims_have_names_that_lead_back():
    recorded = ft.claim("mixed.lemmaD11")
    for reading in (recorded.as_printed, *recorded.lacking.values()):
        assert counterexample.find_recorded_claim(reading.id).assumptions == reading.assumptions
        assert counterexample.document_title(reading) == reading.id
    stranger = recorded.replace("mixed.lemmaD11!printed", bound=0, also=())
    assert counterexample.document_title(stranger) == "mixed.lemmaD11!printed!variant"
    assert counterexample.find_recorded_claim("mixed.lemmaD11!without what it never had") is None


@pytest.mark.parametrize(
    "name, needs",
    [
        ("mixed.propD5", "convex"),
        ("flex.jensen_s", "all_active"),
        ("flex.corollary4_0_2", "bounded_by_W_l"),
    ],
)
def test_what_the_papers_leave_out(name, needs):
    v = ft.check(name, budget=1)
    assert v.status == "holds" and v.printed.status == "violated"
    assert [r.name for r in v.removals if r.saves] == [needs]
    document = v.printed.certificate
    assert ft.replay(document)["about"] == "the claim as it is recorded here"
    assert document["claim"] == f"{name}!printed"
    for renamed in (name, f"{name}!without {needs}"):  # of the claim as meant it shows nothing
        with pytest.raises(Refused):
            ft.replay(dict(document, claim=renamed))


@pytest.mark.parametrize("name", ["fsl.theorem1", "fsl.step22"])
def test_each_hypothesis_of_a_round_is_broken_by_some_instance(name):
    claim = discover.claim(name)
    assert printed_reading.breakable_hypotheses(Case.of(claim.as_printed, 1.0)) == set(
        claim.unstated
    )


@pytest.mark.parametrize("case", ["strong", "convex"])
def test_what_stated_hypotheses_imply_is_none_that_the_text_leaves_out(case):
    """Of theorem B.2: eta <= 1/(8 K beta eta_s) and eta_s > sqrt(10 S)/4, 0.79 at least, leave no eta
    above 1/beta, so that the proof of D.11 needs nothing more."""
    claim = discover.claim(f"mixed.theoremB2_{case}_explicit")
    beta = claim.symbols["beta"].symbol
    assert 1 / beta not in {a.relation.rhs for a in claim.unstated if a.relation is not None}
    stated = [str(a.relation) for a in claim.assumptions if a.stated and a.relation is not None]
    assert {"eta_s > sqrt(10)*sqrt(S)/4", "eta <= 1/(8*K*beta*eta_s)"} <= set(stated)


def test_below_its_least_budget_nothing_is_said_of_what_is_printed():
    v = ft.check("mixed.propD5", budget=printed_reading.LEAST / 2)
    assert v.status == "holds" and v.printed.status == "undecided" and v.removals == []


def test_a_family_that_refutes_one_reading_is_asked_of_the_others():
    """Clients that are all alike, ever more of them: inside fewer hypotheses too, and not inside one
    that bounds their number."""
    claim = ft.claim("lamb.corollary1")
    (document,) = _proofs.known_violations()[claim.id]
    grew = dict(growth=["1", "2", "4"])
    found = Verdict(claim.id, "violated", "order", "", witness=grew, certificate=document)
    printed = printed_reading.reuse_counterexample(claim, found, claim.as_printed)
    assert printed.status == "violated" and printed.kind == "order"
    assert ft.replay(printed.certificate)["claim"] == "lamb.corollary1!printed"
    few = claim.replace(name="few", assumptions=(*claim.assumes, claim.symbols["n"].symbol <= 5))
    assert printed_reading.reuse_counterexample(claim, found, few) is None
