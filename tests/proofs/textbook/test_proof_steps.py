"""Steps of proofs: what follows is proved with documents, what does not is not; a premise that assumes
more counts for nothing; a proof that rests on itself is refused."""

import json

import pytest
import sympy
from sympy import Eq

from fedtheory import discover
from fedtheory.certificates import check_proof
from fedtheory.errors import InvalidInput
from fedtheory.language.claim import Claim
from fedtheory.language.conditions import Condition
from fedtheory.proofs.textbook import proof_steps
from fedtheory.symbols import fsl as f
from fedtheory.verdicts import proof_graph

STEPS = [(claim, at - 1) for claim in discover.claims() for at in claim.follows]
QUICK = [
    (c, at) for c, at in STEPS if c.id in ("fsl.step24", "fsl.step21", "fsl.step18", "fsl.lemma3")
]
names = lambda v: getattr(v, "id", None) or str(v)


def without(claim, at, n):
    """The claim with one premise of a line removed."""
    some = claim.follows[at + 1]
    return claim.replace(follows={at + 1: some[:n] + some[n + 1 :]})


@pytest.mark.parametrize("claim, at", QUICK, ids=names)
def test_a_step_is_proved_with_documents_of_that_line(claim, at):
    found = proof_steps.step_of(claim, at)
    assert found.status == "proved", found.why
    for document in found.documents:
        assert check_proof.check(json.loads(json.dumps(document)))
    assert proof_steps.speaks_of(found.documents[0], claim, at)
    assert not proof_steps.speaks_of(found.documents[0], discover.claim("fsl.step16"), 0)


@pytest.mark.parametrize("claim, at", QUICK, ids=names)
def test_with_a_premise_removed_it_is_not_proved(claim, at):
    for n in range(len(claim.follows[at + 1])):
        found = proof_steps.step_of(without(claim, at, n), at)
        assert found is None or found.status != "proved", claim.follows[at + 1][n]


FACTS = lambda claim, at: tuple(
    one for one in claim.follows[at + 1] if str(one).startswith("textbook.")
)
BOTH = [(c, at) for c, at in STEPS if 0 < len(FACTS(c, at)) < len(c.follows[at + 1])]


@pytest.mark.slow
@pytest.mark.parametrize("claim, at", BOTH, ids=names)
def test_no_step_is_proved_from_textbook_facts_alone_where_its_proof_takes_lines(claim, at):
    """A proof may name more than its algebra needs; without any line of the paper nothing follows."""
    fewer = proof_steps.step_of(claim.replace(follows={at + 1: FACTS(claim, at)}), at)
    assert fewer is None or fewer.status != "proved"


def own(bound, name="mine.a", left=None, **more):
    left = f.T_6 if left is None else left
    return Claim(
        id=name,
        cites="mine, (1)",
        algorithm="fsl",
        symbols=f.TABLE,
        measures=left,
        bound=bound,
        **more,
    )


def test_a_false_conclusion_does_not_follow():
    claim = discover.claim("fsl.step24")
    assert proof_steps.step_of(claim.replace(bound=claim.weakened), 0).status == "undecided"


def test_a_premise_that_assumes_more_counts_for_nothing():
    strict = own(f.E_c, assumes=(Eq(f.gamma, 0),))
    found = proof_steps.step_of(own(2 * f.E_c, "mine.b", follows=(strict,)), 0)
    assert found.status == "refused" and "gamma" in found.why and not found.documents
    same = own(2 * f.E_c, "mine.b", follows=(strict,), assumes=(Eq(f.gamma, 0),))
    assert proof_steps.step_of(same, 0).status == "proved"
    # A condition of the same name that says something else is another condition.
    for mine in (Condition("noise", "anything", lambda problem, setup: True), None):
        lemma = discover.claim("fsl.lemma4")
        claim = own(
            lemma.bound + 1,
            "mine.c",
            f.E_c,
            follows=(lemma,),
            assumes=[
                a if a.name != "noise" else mine
                for a in lemma.assumptions
                if a.name != "noise" or mine
            ],
        )
        assert proof_steps.step_of(claim, 0).status == "refused"
    assert proof_steps.step_of(claim.replace(assumptions=lemma.assumptions), 0).status == "proved"


def test_a_textbook_fact_needs_its_conditions():
    lemma = discover.claim("fsl.lemma3")
    assert proof_steps.step_of(lemma, 0).status == "proved"
    assert proof_steps.step_of(lemma.without("lipschitz"), 0).status == "undecided"
    noise = discover.claim("fsl.step21")
    assert proof_steps.step_of(noise, 2).status == "proved"
    assert proof_steps.step_of(noise.without("independent_noise"), 2).status == "undecided"


def test_hypotheses_of_premises_are_shown_to_follow():
    found = proof_steps.step_of(discover.claim("fsl.step_T7"), 1)
    assert found.status == "proved" and len(found.documents) > 1
    loose = discover.claim("fsl.step_T7").without("(11)")
    assert proof_steps.step_of(loose, 1).status == "refused"


def test_a_premise_of_another_method_paper_or_order_counts_for_nothing():
    other = own(2 * f.E_c, follows=(own(f.E_c, "mine.l").replace(algorithm="fedavg"),))
    assert "method" in proof_steps.step_of(other, 0).why
    for name, why in (("mixed.lemmaD9", "letters"), ("fsl.corollary1", "order")):
        assert why in proof_steps.step_of(own(f.E_c, follows=(name,)), 0).why


def test_a_circle_is_refused_before_anything_is_decided():
    asked = []
    claim = own(f.E_c, follows=("fsl.step24",))
    looped = own(f.E_c, follows=(own(f.E_c, "mine.z", follows=(own(f.E_c),)),))
    for one in (
        looped,
        own(f.E_c, also=((f.E_c, "<=", f.T_6),), follows={1: ("mine.a/2",), 2: ("mine.a/1",)}),
    ):
        with pytest.raises(InvalidInput, match="<- mine"):
            proof_graph.build_graph(one, lambda *other: asked.append(other))
    twice = own(f.E_c, follows=(own(f.E_c, "mine.z"), own(2 * f.E_c, "mine.z")))
    with pytest.raises(InvalidInput, match="alike"):
        proof_graph.build_graph(twice, lambda *other: asked.append(other))
    assert not asked and proof_graph.build_graph(claim, lambda *other: None)


def test_what_is_named_must_be_there():
    for wrong in ("fsl.nothing", "fsl.step24/2", "fsl.step24/0", "textbook.nothing", "fsl.table2"):
        with pytest.raises(InvalidInput):
            proof_steps.line_premises(own(f.E_c, follows=(wrong,)), 0)
    for wrong in ("fsl.step24", (3,), {2: ("fsl.step24",)}, {"1": ("fsl.step24",)}):
        with pytest.raises(InvalidInput, match="follows"):
            own(f.E_c, follows=wrong)


def test_no_recorded_proof_rests_on_itself_and_all_it_names_is_there():
    for claim in discover.claims():
        if claim.follows:
            assert proof_graph.order_lines([(claim, n) for n in range(len(claim.lines))])


def test_the_last_step_of_theorem_2_needs_the_sign_of_its_bound():
    """h E_T <= max(0, h) mean: where h < 0, its left side is below 0, and the bound has to be above."""
    claim = discover.claim("fsl.theorem2")
    assert proof_steps.step_of(claim, 0).status == "proved"
    for n in range(3):
        assert proof_steps.step_of(without(claim, 0, n), 0).status == "undecided"


def test_a_step_is_asked_with_what_it_is_connected_to_alone():
    x, y, z = sympy.symbols("x y z")
    some = [sympy.Le(y, x), sympy.Le(z, 1), sympy.Le(y, 2)]
    assert proof_steps.connected_relations(sympy.Le(x, 3), some) == [some[0], some[2]]


@pytest.mark.parametrize("case", ("convex", "nonconvex"))
def test_theorem_b1_is_summed_from_its_rounds(case):
    mean = discover.claim(f"mixed.theoremB1_{case}_mean")
    assert proof_steps.step_of(mean, 0).status == "proved"
    assert (
        proof_steps.step_of(mean.replace(bound=mean.bound * sympy.Rational(99, 100)), 0).status
        != "proved"
    )
    assert (
        proof_steps.step_of(discover.claim(f"mixed.theoremB1_{case}_explicit"), 0).status
        == "proved"
    )
