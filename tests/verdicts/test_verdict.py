"""A verdict as plain data: read as it was written, in any version, and refused where it is forged."""

import json

import pytest

import fedtheory as ft
from fedtheory.verdicts.status import STATUSES
from fedtheory.verdicts.verdict import FIELDS, VERSION, Verdict, find_fault


@pytest.fixture(scope="module")
def stored():
    """A verdict with lines of its own, and one with readings, as JSON holds them."""
    names = ("fsl.lemma2", "flex.jensen_s")
    return [json.loads(json.dumps(ft.check(name, budget=1).as_dict())) for name in names]


def test_what_is_written_is_read(stored):
    for data in stored:
        verdict = Verdict.from_dict(data)
        assert find_fault(data) is None and verdict.as_dict() == data
        assert data["schema"] == VERSION and [*data][1:] == [*FIELDS]
    lines, readings = map(Verdict.from_dict, stored)
    assert [line.status for line in lines.lines] == ["proved", "holds"]
    assert readings.printed.status == "violated" and readings.saved_by
    assert len([*readings.parts()]) == 2 + len(readings.removals)


def test_data_of_before_the_version_is_read(stored):
    for data in stored:
        old = {name: value for name, value in data.items() if name != "schema"}
        assert find_fault(old) is None and Verdict.from_dict(old).as_dict() == data
    assert find_fault(dict(stored[0], schema=VERSION + 1)) == "schema"


@pytest.mark.parametrize(
    "change, fault",
    [
        (dict(status="true"), "status"),
        (dict(status="holds", tightness=1.5), "tightness"),
        (dict(tightness="large"), "tightness"),
        (dict(cases=-1), "cases"),
        (dict(cases=True), "cases"),
        (dict(confidence=2), "confidence"),
        (dict(notes=[1]), "notes"),
        (dict(certificate="a.json"), "certificate"),
        (dict(lines=[5]), "lines"),
        (dict(lines=[{}]), "fields"),
        (dict(removals=[dict(name="x")]), "removals"),
        (dict(more=1), "fields"),
    ],
)
def test_a_forged_verdict_has_a_fault_and_is_read_all_the_same(stored, change, fault):
    """`diff` compares whatever it is given; `replay` refuses it."""
    forged = {**stored[0], **change}
    assert find_fault(forged) == fault
    assert isinstance(Verdict.from_dict(forged), Verdict)


def test_nothing_nests_without_end():
    deep = dict(status="holds")
    for _ in range(5000):
        deep = dict(status="holds", printed=deep, lines=[deep])
    found = Verdict.from_dict(deep)
    assert found.printed.lines and found.printed.as_printed is None
    assert not found.lines[0].lines
    for nothing in (None, 5, [], "x"):
        assert Verdict.from_dict(nothing).status not in STATUSES
