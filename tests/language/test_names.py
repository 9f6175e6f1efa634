"""Names of claims: nothing in them is hidden, and none passes for another."""

import copy
import json

import pytest
import sympy

import fedtheory as ft
from fedtheory import discover
from fedtheory.certificates import alone
from fedtheory.certificates.check_proof import Refused
from fedtheory.errors import InvalidInput
from fedtheory.language import names
from fedtheory.language.claim import Claim
from fedtheory.proofs import algebra
from fedtheory.search import counterexample
from fedtheory.symbols import fsl as f
from fedtheory.verdicts import proof_graph, replaying

HIDDEN = [
    "fsl.theorem1 ",
    " fsl.theorem1",
    "fsl.theorem1\u200b",
    "fsl.theo\u200drem1",
    "fsl.theorem1\u00a0",
    "fsl.\u2060theorem1",
    "fsl.theorem1\u034f",
    "fsl.theorem1\ufe0f",
    "fsl.theorem1\u3164",
    "fsl.theorem1\u2800",
    "fsl.theorem1\x00",
    "fsl.theorem1\t",
    "fsl.theorem1\n",
    "fsl.theorem1\x1b[0m",
    "\u202efsl.theorem1",
    "\uff46sl.theorem1",
    "fsl.theorem\u00b9",
    "fsl.  theorem1",
    "",
    "x" * 201,
]
ALIKE = {
    "fsl.Theorem1": "fsl.theorem1",
    "fsl.theoreml": "fsl.theorem1",
    "f\u0455l.theorem1": "fsl.theorem1",
    "fsl.the\u03bfrem1": "fsl.theorem1",
    "fsl theorem1": "fsl.theorem1",
    "fsl.theorem_1": "fsl.theorem1",
    "fsl.theorem1!": None,  # of no reading
    "mixed.theoremBl_convex": "mixed.theoremB1_convex",
    "lamb.lernma1": "lamb.lemma1",
    "fsl.theorem1!Printed": "fsl.theorem1!printed",
}


def proofs(name):
    """A document of a proof that bears a name."""
    n = sympy.Symbol("n", integer=True, positive=True)
    line = algebra.prove(sympy.Le(1, n**2, evaluate=False)).certificate
    return dict(format="fedtheory proofs 1", claim=name, lines=[json.loads(json.dumps(line))])


@pytest.mark.parametrize("name", HIDDEN)
def test_what_is_hidden_in_a_name_is_refused(name):
    assert not names.well_formed(name) and not alone.well_formed(name)
    with pytest.raises(InvalidInput, match="must be a name of 1 to 200"):
        Claim(name, "mine, (1)", f.TABLE, measures=f.E_c, bound=f.E_c)
    with pytest.raises(replaying.Refused, match="its claim must be a name"):
        ft.replay(proofs(name))
    with pytest.raises(Refused, match="no name of a claim"):
        alone.judge_document(proofs(name), [])


@pytest.mark.parametrize("name", [name for name, other in ALIKE.items() if other])
def test_what_can_be_taken_for_a_recorded_claim_is_refused(name):
    assert names.well_formed(name) and counterexample.lookalike(name) == ALIKE[name]
    with pytest.raises(replaying.Refused, match="can be taken for"):
        ft.replay(proofs(name))


def test_names_of_one_s_own_are_nobody_else_s():
    for name in (
        "mine.theorem1",
        "without noise",
        "fsl.theorem1!variant",
        "größe.1",
        "fsl.theorem1 (mutant)",
    ):
        assert names.well_formed(name) and counterexample.lookalike(name) is None
        assert ft.replay(proofs(name))["about"] == replaying.OWN
    for name in ("fsl.theorem1", "fsl.theorem1!printed"):
        assert counterexample.lookalike(name) is None


def test_all_recorded_names_and_readings_are_well_formed():
    found = [
        r.id for c in discover.shipped_claims() for r in (c, c.as_printed, *c.lacking.values())
    ]
    assert all(map(names.well_formed, found)) and all(map(alone.well_formed, found))
    assert not [name for name in found if counterexample.lookalike(name)]


def test_a_reading_s_name_is_made_well_formed():
    claim = Claim("mine.a", "mine, (1)", f.TABLE, measures=f.E_c, bound=f.E_c)
    assert claim.name_variant("!without  a\u200b thing ") == "mine.a!without a thing"


# ---------------------------------------------------------------- lines of graphs


def graph(**changes):
    """The graph of a claim that nobody recorded, whose only line follows from a recorded one."""
    lemma = discover.claim("fsl.lemma3")
    more = dict(assumptions=lemma.assumptions, follows=("fsl.lemma3/1",), also=())
    claim = lemma.replace("mine.x", bound=2 * lemma.bound, **more)
    found = proof_graph.build_graph(claim, lambda other, led: None).certificate
    return dict(json.loads(json.dumps(found)), **changes)


def test_a_graph_of_one_s_own_names_its_own_lines_and_recorded_ones_as_they_are():
    found = ft.replay(graph())
    assert found["about"] == replaying.OWN and "names that this document gives" in found["says"]
    assert "mine.x/1" in found["says"] and "fsl.lemma3/1" in found["says"]
    alone.check_graph(graph())


LIES = {
    "a recorded line that its proof is not of": lambda d: d["edges"][0].update(
        line="fsl.theorem1/1"
    ),
    "another recorded line": lambda d: d["edges"][1].update(line="fsl.lemma3/2"),
    "a line that is not there": lambda d: d["edges"][0].update(line="fsl.theorem1/9"),
    "a name that can be taken for it": lambda d: d["edges"][0].update(line="fsl.theoreml/1"),
    "a name with a blank": lambda d: d["edges"][0].update(line="fsl.theorem1 /1"),
    "a premise with a blank": lambda d: d["edges"][0].update(premises=["fsl.lemma3\u200b/1"]),
    "a premise that is not there": lambda d: d["edges"][0].update(premises=["fsl.lemma3/7"]),
    "a premise that is no line": lambda d: d["edges"][0].update(premises=["anything"]),
    "an unknown textbook fact": lambda d: d["edges"][0].update(premises=["textbook.all"]),
    "a textbook fact that it does not prove": lambda d: d["edges"][0].update(
        premises=["textbook.young"]
    ),
    "a line twice": lambda d: d["edges"].append(copy.deepcopy(d["edges"][0])),
    "its recorded step from elsewhere": lambda d: d["edges"][1].update(premises=["mine.x/1"]),
}


@pytest.mark.parametrize("how", LIES)
def test_a_graph_of_one_s_own_forges_no_recorded_line(how):
    document = graph()
    assert [edge["line"] for edge in document["edges"]] == ["mine.x/1", "fsl.lemma3/1"]
    LIES[how](document)
    with pytest.raises(replaying.Refused):
        ft.replay(document)


def test_the_one_file_compares_graphs_with_the_ledger():
    document = graph()
    edges = [
        dict(line=e["line"], premises=e["premises"], status="proved") for e in document["edges"]
    ]
    book = dict(
        claims=[dict(id="mine.x", rests_on=dict(edges=edges)), dict(id="mine.y", rests_on=None)]
    )
    of = lambda d: {"certificates/mine.x.graph.json": json.dumps(d).encode()}
    assert alone.steps(book, of(document)) == []
    for name in (
        "a recorded line that its proof is not of",
        "a premise with a blank",
        "a line twice",
    ):
        forged = copy.deepcopy(document)
        LIES[name](forged)
        assert alone.steps(book, of(forged)), name
    assert alone.steps(book, of(dict(document, claim="mine.y"))) and alone.steps(book, {})
    assert alone.steps(book, {"certificates/mine.x.graph.json": b"[1"})
    for change in (dict(premises=["textbook.young"]), dict(premises=["anything"]), dict(line="x")):
        forged = copy.deepcopy(document)
        forged["edges"][0].update(change)
        with pytest.raises(Refused):
            alone.check_graph(forged)
