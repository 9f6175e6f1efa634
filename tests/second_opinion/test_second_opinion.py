"""The shipped certificates, derived anew by a program that shares no code with the checker, and 200 forged ones."""

import ast
import json
from pathlib import Path

import pytest

import fedtheory as ft
from fedtheory import discover
from tests.second_opinion.judge import CLAIMS, judged
from tests.second_opinion.mutants import mutant, sealed
from tests.second_opinion.opinion import Refused

HERE = Path(__file__).resolve().parent
CERTIFICATES = json.loads((HERE / "certificates.json").read_text())
FORGED = 200
STANDARD = {"fractions", "itertools", "math", "random", "re", "typing", "copy", "hashlib", "json"}


def test_it_shares_no_code_with_the_checker():
    for path in sorted(HERE.glob("[!t]*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else \
                [node.module] if isinstance(node, ast.ImportFrom) else []
            assert all(name in STANDARD or name.startswith("tests.second_opinion") for name in names), (path.name, names)


@pytest.mark.parametrize("name", CERTIFICATES)
def test_it_finds_the_violation_too(name):
    judged(CERTIFICATES[name])
    assert ft.replay(CERTIFICATES[name])["status"] == "violated"


def test_every_claim_that_it_knows_is_on_record():
    assert set(CLAIMS) <= {claim.id for claim in discover.claims()} and set(CERTIFICATES) <= set(CLAIMS)


def forged():
    """The first documents of a seeded sequence that are evidence no more, of all certificates in turn."""
    names, found, seed = list(CERTIFICATES), [], 0
    while len(found) < FORGED:
        name = names[seed % len(names)]
        made = mutant(CERTIFICATES[name], seed, CLAIMS)
        seed += 1
        if made is None:
            continue
        try:
            judged(made[0])    # still a counterexample: an instance may be another one
        except Refused:
            found.append((name, seed, *made))
    return found


def test_many_forged_certificates_are_told():
    kinds = {what.partition(" ")[0] for _, _, _, what in forged()}
    assert {"instance", "count", "the", "sides", "a", "what"} <= kinds


def test_the_generator_seals_what_it_changes():
    document = CERTIFICATES["lamb.lemma1"]
    assert sealed(dict(document)) == document
    with pytest.raises(Refused):
        judged(sealed({**document, "statement": {**document["statement"], "sign": ">="}}))
