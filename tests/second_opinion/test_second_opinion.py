"""The shipped certificates, derived anew by a program that shares no code with the checker, and
forged ones refused."""

import ast
import copy
import json
from functools import cache
from pathlib import Path

import pytest

import fedtheory as ft
from fedtheory import discover
from fedtheory.certificates import check_proof
from fedtheory.proofs.textbook import facts, proof_steps
from fedtheory.proofs.textbook.lemmas import LEAVES
from fedtheory.verdicts import pipeline
from tests.second_opinion.judge import TYPED, judged, proved
from tests.second_opinion.lines import LINES
from tests.second_opinion.mutants import mutant, sealed
from tests.second_opinion.opinion import Refused
from tests.second_opinion.proofs import Place

HERE = Path(__file__).resolve().parent
CERTIFICATES = json.loads(
    (HERE / "certificates.json").read_text()
)  # as a campaign ships them, by claim
PROOFS = json.loads((HERE / "proofs.json").read_text())  # by claim/line
FORGED, FORGED_PROOFS = 200, 100
STANDARD = {
    "collections.abc",
    "fractions",
    "itertools",
    "math",
    "random",
    "re",
    "typing",
    "copy",
    "hashlib",
    "json",
}


def test_it_shares_no_code_with_the_checker():
    for path in sorted(set(HERE.glob("[!t]*.py")) - {HERE / "refresh.py"}):
        for node in ast.walk(ast.parse(path.read_text())):
            names = (
                [a.name for a in node.names]
                if isinstance(node, ast.Import)
                else [node.module]
                if isinstance(node, ast.ImportFrom)
                else []
            )
            assert all(
                name in STANDARD or name.startswith("tests.second_opinion") for name in names
            ), (path.name, names)


@pytest.mark.parametrize("name", CERTIFICATES)
def test_it_finds_the_violation_too(name):
    judged(CERTIFICATES[name])
    assert ft.replay(CERTIFICATES[name])["status"] == "violated"


@pytest.mark.parametrize("name", PROOFS)
def test_it_follows_the_proof_too(name):
    claim, line = name.split("/")
    proved(PROOFS[name], claim, int(line))
    assert ft.replay(PROOFS[name])["status"] == "proved"


@cache
def steps():
    """The documents of every proved step of a recorded proof, by line, and of textbook facts."""
    found = {leaf.id: facts.fact_documents(leaf.id) for leaf in LEAVES}
    for claim in discover.claims():
        for line in claim.follows:
            step = proof_steps.step_of(claim, line - 1)
            found.update({step.line: step.documents} if step.status == "proved" else {})
    return found


def test_it_follows_the_steps_of_proofs_too():
    assert len(steps()) > 60
    for documents in steps().values():
        for document in documents:
            Place(document).prove(document["shows"], document["proof"])


def test_a_step_without_one_of_its_assumptions_is_no_proof():
    """What a document's terms use it cannot do without; it is refused here and by the checker."""
    tried = 0
    for documents in list(steps().values())[::4]:
        document = copy.deepcopy(documents[0])
        if not (used := document["proof"].get("terms")) or not document["assumes"]:
            continue
        used = [f for term in used for f in term.get("facts", ()) if f.startswith("assumed:")]
        if not used:
            continue
        sign = document["assumes"][int(used[0][8:])]
        document["assumes"][int(used[0][8:])] = [sign[0], "0", "0"]
        tried += 1
        for check in (lambda d: Place(d).prove(d["shows"], d["proof"]), check_proof.check):
            with pytest.raises((Refused, check_proof.Refused)):
                check(document)
    assert tried > 3


def test_every_claim_that_it_knows_is_on_record():
    recorded = {one.id for claim in discover.claims() for one in (claim, claim.as_printed)}
    assert TYPED | set(LINES) <= recorded and set(CERTIFICATES) <= TYPED
    assert {name.partition("/")[0] for name in PROOFS} <= set(LINES)


@cache
def forged():
    """The first documents of a seeded sequence that are evidence no more, of all certificates in
    turn."""
    names, found, seed = list(CERTIFICATES), [], 0
    while len(found) < FORGED:
        name = names[seed % len(names)]
        made = mutant(CERTIFICATES[name], seed, TYPED)
        seed += 1
        if made is None:
            continue
        try:
            judged(made[0])  # still a counterexample: an instance may be another one
        except Refused:
            found.append((name, seed, *made))
    return found


@cache
def forged_proofs():
    names, found, seed = list(PROOFS), [], 0
    while len(found) < FORGED_PROOFS:
        name = names[seed % len(names)]
        made = mutant(PROOFS[name], f"proof/{seed}")
        seed += 1
        if made is None:
            continue
        try:
            proved(made[0], *[part(text) for part, text in zip((str, int), name.split("/"))])
        except Refused as error:
            if "it shows another" not in str(error) and "it assumes" not in str(
                error
            ):  # what it shows may be true
                found.append((name, seed, *made))
    return found


def test_forged_certificates_are_of_every_kind():
    kinds = {what.partition(" ")[0] for _, _, _, what in forged()}
    assert {"instance", "count", "the", "sides", "a", "what", "all"} <= kinds
    assert len({name for name, *_ in forged()}) == len(CERTIFICATES)


def replayed(documents):
    passed = []
    for name, seed, document, what in documents:
        try:
            answer = ft.replay(json.loads(json.dumps(document)))
        except pipeline.Refused:
            continue
        passed.append((name, seed, what, answer["status"]))
    return passed


def test_forged_proofs_are_refused():
    assert not replayed(forged_proofs())


def test_a_vector_is_no_number_here_either():
    """(u.u)(v.v) <= (u.v)^2 from the square of a commuting symbol, as a proof might pretend."""
    document = copy.deepcopy(PROOFS["fsl.gradient_identity/1"])
    document["shows"] = ["<=", ["*", "vec_F.vec_F", "vec_0.vec_0"], ["^", "vec_F.vec_0", 2]]
    document["proof"] = dict(scale="1", terms=[])
    for term in ([], [dict(by="1", gram=[dict(vec_F="1"), dict(vec_0="1")])]):
        document["proof"]["terms"] = term
        with pytest.raises(Refused, match="do not add up"):
            Place(document).prove(document["shows"], document["proof"])
    document["shows"][0] = ">="  # Cauchy-Schwarz
    Place(document).prove(document["shows"], document["proof"])


def test_the_generator_seals_what_it_changes():
    document = CERTIFICATES["lamb.lemma1"]
    assert sealed(dict(document)) == document
    with pytest.raises(Refused):
        judged(sealed({**document, "statement": {**document["statement"], "sign": ">="}}))


def test_what_is_solved_in_a_circle_is_refused_by_both():
    """z = max(z, y), solved for z: unfolding the maximum asks for z again."""
    document = dict(
        format=check_proof.FORMAT,
        variables=dict(y="real", z="real"),
        nodes=dict(top=["cases", [">=", "y", "z"], "y", "z"]),
        assumes=[["==", "z", "top"]],
        sources=["z = max(y, z)"],
        parts={},
        shows=["<=", "z", "y"],
        proof=dict(
            solve=[["z", "top", "assumed:0"]], split="top", branches=[dict(scale="1", terms=[])] * 2
        ),
    )
    with pytest.raises(check_proof.Refused, match="made of itself"):
        check_proof.check(document)
    with pytest.raises(Refused, match="made of itself"):
        Place(document).prove(document["shows"], document["proof"])
