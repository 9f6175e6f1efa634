"""Tables of printed and meant: what they say of statements worked by hand, and how they are laid
out."""

import numpy as np
import pytest

from fedtheory import discover, figures
from fedtheory.figures import _needed, _store
from tests.figures.looks import wrong

MINE = [name for name in figures.figure_ids() if name.startswith("printed_")]


@pytest.fixture(scope="module")
def mixed():
    record = figures.figure("printed_mixed")
    return _store.check_arrays("printed_mixed", record.compute("smoke", lambda done, total: None))


def test_every_paper_has_its_table():
    """Each statement with lines is in one of them."""
    import importlib

    papers = [
        p for name in MINE for p in importlib.import_module(f"fedtheory.figures.{name}").PAPERS
    ]
    assert sorted(papers) == sorted(discover.papers())
    for name in MINE:
        module = importlib.import_module(f"fedtheory.figures.{name}")
        assert {discover.claim(id).paper for id in module.FEW} <= set(module.PAPERS)


def test_what_convexity_saves_and_a_constant_that_is_needed_whole(mixed):
    """D.5 is false of a concave loss; D.6 is reached by a quadratic at which one client works."""
    found = dict(zip(mixed["claim"].tolist(), range(9)))
    five, six = found["mixed.propD5"], found["mixed.propD6"]
    assert (mixed["printed"][five], mixed["meant"][five]) == ("violated", "holds")
    assert "convex" in mixed["saved"][five].item() and "stated" not in mixed["saved"][five].item()
    assert (mixed["printed"][six], mixed["meant"][six]) == ("holds", "holds")
    (at,) = np.flatnonzero(mixed["of"] == six)
    assert mixed["constant"][at] == "4 in 4 beta gap"
    assert 3.9 < mixed["refuted"][at] < 4 == mixed["value"][at]


def test_rows_say_what_the_arrays_hold(mixed):
    rows = figures.figure("printed_mixed").rows(mixed)
    assert rows[0] == _needed.HEADER and {len(row) for row in rows} == {len(_needed.HEADER)}
    assert rows[-1][:4] == [f"2 of {mixed['claims']} claims", "budgets", "1 s", "1 s"]
    by_claim = {row[0]: row for row in rows}
    assert by_claim["mixed.propD5"][2:4] == ["violated", "holds"]
    assert by_claim["mixed.propD5"][6].endswith("[proof of D.5, f_i and f_c convex]")
    assert by_claim["mixed.propD6"][4:6] == [mixed["constant"][0], mixed["says"][0]]


def test_a_claim_with_several_constants_goes_on_below_itself():
    data = dict(
        claim=np.array(["a.one", "a.two"]),
        place=np.array(["1", "2"]),
        printed=np.array(["violated", "holds"]),
        meant=np.array(["holds", "holds"]),
        saved=np.array(["convex", ""]),
        of=np.array([0, 0]),
        constant=np.array(["8 in 8 a", "3 in 3 b"]),
        says=np.array(["needed between 0.13 and 0.21", "not needed"]),
        most=np.array([False, False]),
        value=np.array([8.0, 3.0]),
        refuted=np.array([0.13, np.nan]),
        proved=np.array([0.21, 0.0]),
        budget=np.array([1.0, 2.0]),
        seed=np.array(0),
        claims=np.array(2),
    )
    assert _needed.table_rows(data)[1:] == [
        ["a.one", "1", "violated", "holds", "8 in 8 a", "needed between 0.13 and 0.21", "convex"],
        ["", "", "", "", "3 in 3 b", "not needed", ""],
        ["a.two", "2", "holds", "holds", "", "", ""],
        ["2 of 2 claims", "budgets", "1 s", "1 s", "seed 0", "2 s a claim", ""],
    ]
    assert wrong(figures.figure("printed_fsl"), data) == []


def test_pictures_are_readable(mixed):
    assert wrong(figures.figure("printed_mixed"), mixed) == []


def test_no_constant_is_asked_of_a_statement_that_is_false():
    found = _needed.needed_arrays(
        ("lamb",), ("lamb.step_average",), "smoke", lambda done, total: None
    )
    assert found["meant"].tolist() == ["violated"] and len(found["constant"]) == 0
