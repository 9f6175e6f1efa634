"""Parts of figures: worked out once, found again by what defines them, shared by processes."""

import subprocess
import sys
import threading

import numpy as np
import pytest

from fedtheory.experiments import _kept
from fedtheory.figures import _parts, all_conservatism, theory_fsl
from fedtheory.store import source_hash

CALLS = []


@pytest.fixture(autouse=True)
def empty(tmp_path, monkeypatch):
    monkeypatch.setattr(_parts, "FOLDER", str(tmp_path))
    CALLS.clear()
    return tmp_path


def squares(name, numbers):
    CALLS.append(name)
    return {name: [number**2 for number in numbers], "nan": np.nan}


def test_a_part_is_worked_out_once():
    first, again = (_parts.compute_part(squares, "a", [1, 2]) for _ in range(2))
    assert CALLS == ["a"] and set(first) == {"a", "nan"}
    for found in (first, again):
        assert found["a"].tolist() == [1, 4] and np.isnan(found["nan"])
    assert _parts.compute_part(squares, "a", [1, 3])["a"].tolist() == [1, 9]
    assert _parts.compute_part(squares, "b", [1, 2])["b"].tolist() == [1, 4]
    assert CALLS == ["a", "a", "b"]


def test_changed_sources_work_it_out_anew(monkeypatch):
    _parts.compute_part(squares, "a", [1])
    monkeypatch.setattr(source_hash, "part_digest", lambda path, name: "other sources")
    _parts.compute_part(squares, "a", [1])
    assert CALLS == ["a", "a"]


def test_what_fails_is_not_kept(empty):
    with pytest.raises(TypeError):
        _parts.compute_part(squares, "a", [None])
    assert not list(empty.iterdir())
    assert _parts.compute_part(squares, "a", [2])["a"].tolist() == [4]


def test_what_another_is_at_is_left_for_last(empty, monkeypatch):
    """The first of three parts is another's, who ends only after the others are made here."""
    monkeypatch.setenv("FEDTHEORY_NUM_THREADS", "1")
    begun, order, mine = threading.Event(), [], threading.Event()

    def other():
        begun.set()
        assert mine.wait(60)
        order.append("other's a")
        return dict(x=np.ones(1))

    def work(name):
        order.append(name)
        if name == "c":
            mine.set()
        return dict(x=np.zeros(1))

    thread = threading.Thread(target=lambda: _kept.load_or_compute(str(empty), "a", other))
    thread.start()
    assert begun.wait(60)
    told = []
    parts = {name: lambda name=name: work(name) for name in "abc"}
    found = _kept.load_or_compute_all(
        str(empty), parts, lambda done, total: told.append((done, total))
    )
    thread.join()
    assert order == ["b", "c", "other's a"] and told == [(1, 3), (2, 3), (3, 3)]
    assert [found[name]["x"].item() for name in "abc"] == [1, 0, 0]
    assert not list(empty.glob("*.lock"))


def test_a_process_that_died_holds_nothing(empty):
    text = (
        "import os, sys; from fedtheory.experiments import _kept; "
        "_kept.load_or_compute(sys.argv[1], 'a', lambda: os._exit(1))"
    )
    assert subprocess.run([sys.executable, "-c", text, empty], check=False).returncode == 1
    found = _kept.load_or_compute_all(str(empty), {"a": lambda: dict(x=np.ones(1))})
    assert found["a"]["x"].item() == 1


def test_bars_are_read_off_the_theory_figures_panels(monkeypatch):
    """What bars show of a statement is what its panel shows at that number of rounds."""
    id = theory_fsl.THEOREM
    made = dict(
        T=[5, 20], bound=[8.0, 4.0], worst_T=[5, 20], worst_ratio=[0.5, 0.25],
        worst_broken=[False, True], exact=[1.0, 0.5], mean=[1.0, 0.5], high=[2.0, 1.5],
    )  # fmt: skip
    panel = {
        theory_fsl._theory.array_name(id, name): np.array(value) for name, value in made.items()
    }
    monkeypatch.setattr(
        _parts, "compute_part", lambda function, *task: panel if task[0] == id else None
    )
    assert all_conservatism.read_panel("fsl", id, "smoke") == (20, 4.0, 0.25, True, 0.5, 1.5)
