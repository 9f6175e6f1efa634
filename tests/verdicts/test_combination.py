"""Evidence becomes a verdict in one place: what each kind of evidence says, and who may say it."""

import ast
from dataclasses import fields
from pathlib import Path

import pytest

import fedtheory as ft
from fedtheory.certificates import check_instance
from fedtheory.models import by_name
from fedtheory.verdicts import evidence
from fedtheory.verdicts.case import Case
from fedtheory.verdicts.combination import add_given, combine_lines, conclude
from fedtheory.verdicts.evidence import (
    Agreement,
    Counterexample,
    Doubt,
    Draws,
    Evidence,
    Gap,
    Given,
    Proof,
    Search,
    Tightest,
    Vacuity,
)
from fedtheory.verdicts.status import FINAL, MEANINGS, NEEDS, ORDER, STANDS, STATUSES

LIBRARY = Path(__file__).resolve().parents[2] / "fedtheory"
MODEL = by_name("numbers")


def calls(path, name):
    """Whether a file calls a function or class by this name."""
    return any(
        isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name
        for node in ast.walk(ast.parse(path.read_text()))
    )


def test_one_module_makes_verdicts():
    sources = [
        path for top in ("verdicts", "app", "search") for path in (LIBRARY / top).rglob("*.py")
    ]
    found = {path.relative_to(LIBRARY).as_posix() for path in sources if calls(path, "Verdict")}
    assert found == {"verdicts/combination.py"}


def test_statuses_have_words_and_places():
    assert set(STATUSES) == set(MEANINGS) == set(NEEDS) == set(ORDER) > set(STANDS) | set(FINAL)
    assert len(STATUSES) == len(set(STATUSES)) == len(ORDER)


def test_evidence_names_no_status():
    kinds = [each for each in vars(evidence).values() if isinstance(each, type)]
    kinds = [each for each in kinds if issubclass(each, Evidence) and each is not Evidence]
    assert len(kinds) > 10
    for kind in kinds:
        assert not {field.name for field in fields(kind)} & {"status", "why", "tightness"}, kind


@pytest.mark.parametrize(
    "found, status, words",
    [
        (Proof(says="proved, 3 terms", document={}), "proved", "(proved, 3 terms)"),
        (Vacuity(says="None meets it."), "vacuous", "None meets it."),
        (Search(model=MODEL, cases=7), "holds", "among 7 instances"),
        (Doubt(model=MODEL, reason="too dear", witness={}), "undecided", "that: too dear."),
        (Gap(says="Nothing fits.", kind="exact"), "undecided", "Nothing fits."),
        (Agreement(cells=4, tolerance=1e-9, sizes=""), "holds", "4 printed cells"),
        (
            Draws(refuted=False, bound=2.0, least=1.0, alpha=0.01, witness={}),
            "holds",
            "at least 0.5 of its right side is reached, with confidence 0.995.",
        ),
        (
            Draws(refuted=True, bound=2.0, least=3.0, alpha=0.01, witness={}),
            "violated",
            "above its right side 2 with confidence 0.99,",
        ),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Evidence) else None,
)
def test_what_evidence_says(found, status, words):
    verdict = conclude("mine.claim", found)
    assert (verdict.claim, verdict.status) == ("mine.claim", status) and words in verdict.why


def test_a_counterexample_is_told_from_its_document_alone():
    """The sides are those that a replay derives."""
    claim = ft.claim("flex.eq2_printed")
    document = ft.check(claim, budget=0.3).certificate
    found = Counterexample(model=by_name(document["setting"]), document=document, ratio=2.0)
    verdict, derived = conclude(claim.id, found), check_instance.check(document)
    sides = [check_instance.approximate_text(derived[side]) for side in ("left", "right")]
    assert verdict.why.endswith(f"left {sides[0]}, right {sides[1]}.")
    assert (verdict.status, verdict.confidence, verdict.kind) == ("violated", 1.0, found.model.kind)


def test_the_worst_line_is_the_statement():
    lines = [
        conclude("x", Search(model=MODEL, cases=3)),
        conclude("x", Gap(says="No.", kind="exact")),
    ]
    whole = combine_lines(ft.claim("fsl.lemma2"), lines)
    assert (whole.status, whole.cases, whole.why) == ("undecided", 3, "Line 2: No.")


def test_a_given_instance_counts_where_it_is_tighter():
    tight = lambda ratio: Tightest(ratio, {}, dict(ratio=str(ratio)))
    searched = conclude("x", Search(model=MODEL, cases=3, tightest=tight(0.5), searched="here"))
    for ratio, largest in ((0.25, 0.5), (0.75, 0.75)):
        verdict = add_given(searched, Given(tightest=tight(ratio), says="1 of 1 instances"))
        assert verdict.tightness == largest and verdict.witness == dict(ratio=str(largest))
        assert verdict.searched == "1 of 1 instances; here"


def test_a_case_finds_its_models_once_and_keeps_them_for_its_lines():
    case = Case.of(ft.claim("fsl.lemma2"), 1.0, 3)
    line = case.of_line(1, 0.5)
    assert line.models is case.models and case.models
    assert (line.line, line.budget, line.seed) == (1, 0.5, 3)
    assert Case.of(ft.claim("fsl.special_fedavg"), 1.0).models == ()  # it has no lines
