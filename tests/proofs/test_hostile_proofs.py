"""Proofs that someone else hands in: of all lines of the claim that they name, and never dear to
look at."""

import json
import time
from contextlib import contextmanager
from fractions import Fraction

import pytest

import fedtheory as ft
from fedtheory import discover
from fedtheory.certificates import check_proof, check_worst_case
from fedtheory.certificates.check_proof import Refused
from fedtheory.language.claim import Claim
from fedtheory.language.symbol import Table
from fedtheory.verdicts.replaying import OWN, RECORDED


@contextmanager
def soon():
    """Refused within twenty times what the products take that a worst case may spend, measured here
    and now: a slow or a busy machine lengthens both. Up to eight was seen."""
    with pytest.raises(Refused) as caught:
        begun = time.process_time()
        try:
            yield caught
        finally:
            taken = time.process_time() - begun
    begun, third = time.process_time(), Fraction(1, 3)
    for k in range(check_worst_case.STEPS):
        third * k
    assert taken < 20 * (time.process_time() - begun)


def proof(variables=None, **changes):
    """x > 0 shows x >= 0."""
    return {
        **dict(
            format="fedtheory proof 2",
            variables=variables or dict(x="positive"),
            nodes={},
            assumes=[],
            shows=[">=", "x", "0"],
            proof=dict(scale="1", terms=[dict(by="x")]),
        ),
        **changes,
    }


def proofs(lines, claim="mine.own"):
    return dict(format="fedtheory proofs 1", claim=claim, lines=lines)


def replayed(document):
    return ft.replay(json.loads(json.dumps(document)))


# The lines of a claim


@pytest.fixture(scope="module")
def of_the_record():
    """The document of a recorded claim of two lines, both of them proved."""
    verdict = ft.check("mixed.table4_two_way_nonconvex", budget=2.0)
    assert verdict.status == "proved" and len(verdict.certificate["lines"]) == 2
    return verdict.certificate


def test_the_proofs_of_all_lines_show_the_record(of_the_record):
    assert replayed(of_the_record)["about"] == RECORDED
    assert replayed(dict(of_the_record, claim="mine.own"))["about"] == OWN


def test_proofs_of_other_lines_do_not_show_the_record(of_the_record):
    first, *rest = lines = of_the_record["lines"]
    for forged in (
        [],
        rest,
        [*lines, first],
        [*rest, first],
        [first] * len(lines),
        [proof()] * len(lines),
        [dict(first, assumes=[*first["assumes"], ["<=", "1", "0"]]), *rest],
    ):
        with pytest.raises(Refused):
            pytest.fail(str(replayed(dict(of_the_record, lines=forged))))
    for other in ("fsl.theorem1", "fsl.gradient_identity", "fsl.table3"):
        with pytest.raises(Refused, match=f"it names {other}"):
            replayed(dict(of_the_record, claim=other))


def test_a_variant_s_proofs_do_not_bear_its_claims_name():
    claim = discover.claim("mixed.table4_two_way_nonconvex")
    (left, sign, right), *_ = claim.also
    verdict = ft.check(claim.replace(also=((left, sign, 2 * right), *claim.also[1:])), budget=2.0)
    assert (
        verdict.status == "proved"
        and verdict.certificate["claim"] == "mixed.table4_two_way_nonconvex!variant"
    )
    assert replayed(verdict.certificate)["about"] == OWN


@pytest.mark.parametrize(
    "lines",
    [[], {}, None, "abc", "", 5, True, [[]], [None], ["x"], [5], [{}], [proofs([proof()])]],
    ids=repr,
)
def test_lines_that_are_no_proofs_are_refused(lines):
    for document in (proofs(lines), proofs(lines, "fsl.theorem1")):
        with pytest.raises(Refused):
            replayed(document)


@pytest.mark.parametrize(
    "change", [dict(claim=5), dict(claim=None), dict(claim=["mine"]), dict(note="x")], ids=repr
)
def test_entries_of_another_kind_are_refused(change):
    with pytest.raises(Refused):
        replayed({**proofs([proof()]), **change})
    for lacking in ("claim", "lines"):
        with pytest.raises(Refused, match="lacks"):
            replayed({key: value for key, value in proofs([proof()]).items() if key != lacking})


# What a document may take

x = ["+", "x", "1"]
VECTORS = {f"v{n}": "vector" for n in range(600)}
NUMBERS = {f"n{n}": "positive" for n in range(3000)}
EVERY = dict.fromkeys(VECTORS, "1")
BOMBS = {
    "a tower of powers": proof(shows=[">=", ["^", ["^", ["^", x, 100], 100], 100], "0"]),
    "a tower of powers of a number": proof(
        shows=[">=", ["^", ["^", ["^", "7", 100], 100], 100], "0"]
    ),
    "a tower of powers below a fraction": proof(
        shows=[">=", ["^", ["^", ["^", "x", -100], -100], -100], "0"]
    ),
    "a power of 10^12": proof(shows=[">=", ["^", "x", 10**12], "0"]),
    "a polynomial to the 100th": proof(
        dict.fromkeys("xyzw", "positive"), shows=[">=", ["^", ["+", *"xyzw", "1"], 100], "0"]
    ),
    "products of 4,000 digits": proof(shows=[">=", ["*", *["9" * 4000] * 400], "0"]),
    "sums of fractions of 4,000 digits": proof(
        shows=[">=", ["+", *[f"1/{10**3900 + n}" for n in range(400)]], "0"]
    ),
    "a billion laughs": proof(
        shows=[">=", "n60", "0"],
        nodes={
            "n0": ["define", x],
            **{f"n{n}": ["define", ["*", f"n{n - 1}", f"n{n - 1}"]] for n in range(1, 61)},
        },
    ),
    "a large inner product": proof(
        {"x": "positive", **VECTORS}, shows=[">=", ["dot", EVERY, EVERY], "0"]
    ),
    "a large minor": proof(
        {"x": "positive", **VECTORS}, proof=dict(scale="1", terms=[dict(by="1", gram=[EVERY] * 3)])
    ),
    "a long sum, term by term": proof(
        NUMBERS, shows=[">=", ["+", *[["+", name, "1"] for name in NUMBERS] * 9], "0"]
    ),
    "a long denominator, looked at often": proof(
        NUMBERS,
        nodes={"n": ["define", ["^", ["+", *NUMBERS], -1]]},
        shows=[">=", ["+", *[["*", "n", "1"]] * 20_000], "0"],
    ),
    "facts without end": proof(
        dict(x="positive", y="positive"),
        assumes=[[">=", ["+", "x", "y"], "1"]],
        proof=dict(scale="1", terms=[dict(by="1", facts=["assumed:0"] * 5000)]),
    ),
    "many hypotheses": proof(
        assumes=[[">=", ["^", ["+", "x", str(n)], 10], "0"] for n in range(5000)]
    ),
    "many lines": proofs([proof(shows=[">=", ["^", x, 20], "0"])] * 400),
}


@pytest.mark.parametrize("name", BOMBS)
def test_no_document_takes_long(name):
    with soon() as caught:
        ft.replay(BOMBS[name])
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 400


def test_a_recorded_proof_takes_a_small_part_of_what_it_may(of_the_record):
    for line in of_the_record["lines"]:
        ring = check_proof.Ring(check_proof.WORK // 10)
        check_proof.check(line, ring)


def test_looking_at_a_document_takes_as_long_as_it_is():
    """Two values in each: a sentence about every value that shows its parts would take their number
    times the depth."""
    tree = lambda depth: (
        [tree(depth - 1), tree(depth - 1)] if depth else "a text of twenty-six letters"
    )
    document = proof(note=[tree(17)])
    with soon() as caught:
        ft.replay(document)
    assert "values" in str(caught.value)


def test_a_claim_of_ones_own_proves_its_lines():
    table = Table("mine")
    a = table.positive("a", "a", "a number")
    verdict = ft.check(
        Claim(
            id="mine.two",
            cites="none",
            symbols=table,
            measures=a,
            bound=2 * a,
            also=((a, ">=", a / 2),),
        ),
        budget=1,
    )
    found = replayed(verdict.certificate)
    assert (
        verdict.status == found["status"] == "proved"
        and found["about"] == OWN
        and len(found["lines"]) == 2
    )


# Worst cases


def worst(**changes):
    """A step of gradient descent on a function that is 1-smooth and convex, |x_0 - x_star| <= 1:
    its loss is below 1/2."""
    return {
        **dict(
            format="fedtheory pep 1",
            functions={"1": ["0", "1", "1"]},
            minimiser=True,
            queries=[["1", {"0": "1"}]],
            points=[{"0": "1"}],
            measure=["loss", [0]],
            assumes=[["sq_distance", 0, "1"]],
            bound="1/2",
            multipliers={"1:*:1": "1", "assumed:0": "1/2", "measure:0": "1"},
        ),
        **changes,
    }


def test_a_worst_case_is_proved_by_hand():
    assert ft.replay(worst())["bound"] == 1 / 2


@pytest.mark.parametrize(
    "change",
    [
        dict(bound="1/3"),
        dict(bound=True),
        dict(multipliers={}),
        dict(measure=["loss", [0, 0]]),
        dict(points=[]),
        dict(functions={str(n): ["0", "1", "1"] for n in range(3000)}),
        dict(
            queries=[
                ["1", {"0": "1", **{str(k): "-1" for k in range(1, n + 1)}}] for n in range(300)
            ]
        ),
        dict(
            functions={str(n): ["0", "1", "1"] for n in range(1, 200)},
            queries=[[str(n), {"0": "1"}] for n in range(1, 200)],
            assumes=[["sq_dissimilarity", 0, "1"]] * 1000,
        ),
    ],
    ids=lambda change: next(iter(change)),
)
def test_a_worst_case_that_is_none_is_refused_soon(change):
    with soon() as caught:
        ft.replay(worst(**change))
    assert "Refused" not in str(caught.value)
