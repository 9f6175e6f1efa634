"""What is read off runs by cells, by hand; and the key of a declared figure's arrays."""

import dataclasses

import numpy as np
import pytest

from fedtheory import figures
from fedtheory.figures import _store, fsl_fig7
from fedtheory.figures._experiment import insert_number
from fedtheory.figures._panels import Panels, lines_of
from fedtheory.figures._runs import (
    Cells,
    Coordinates,
    Runs,
    Tuning,
    of_curve,
    pool_cells,
    rounds_to_worst,
)

ENDS = {  # (C, rate, method): accuracies of two seeds, at the only measurement
    ("10", "low", "A"): (0.1, 0.3), ("10", "high", "A"): (0.6, 0.8),
    ("2", "low", "A"): (0.5, 0.5), ("2", "high", "A"): (0.4, 0.4),
    ("10", "low", "B"): (0.2, 0.2), ("2", "low", "B"): (np.nan, np.nan), ("2", "high", "B"): (0.3, 0.1),
}  # fmt: skip


def make_runs(tuned: bool = False) -> Runs:
    data = dict(
        cells=np.array(["|".join(cell) for cell in ENDS]),
        rounds=np.zeros(1),
        test_accuracy=np.array([*ENDS.values()])[..., None],
    )
    more = lambda runs, at: dict(double=2 * int(at["C"]))
    measures = dict(end=of_curve("test_accuracy", lambda curve: curve[-1]))
    return Runs(data, ["C", "rate", "method"], more, measures, Tuning(["rate"]) if tuned else None)


def measure(asked: Cells, tuned: bool = False) -> dict:
    return {key: v.round(9).tolist() for key, v in make_runs(tuned).measure_cells(asked).items()}


def test_cells_that_read_alike_are_averaged() -> None:
    asked = Cells("end", where="{double}", match=dict(method="A"), called="accuracy")
    found = measure(asked)
    assert found == {("accuracy", "A", "20"): [0.35, 0.55], ("accuracy", "A", "4"): [0.45, 0.45]}


def test_levels_stand_in_the_order_of_their_numbers() -> None:
    asked = Cells("end", match=dict(method="A", rate=("low", "no such")), levels="C")
    assert measure(asked) == {("end", "A", ""): [[0.5, 0.1], [0.5, 0.3]]}  # 2 before 10
    assert measure(asked._replace(reduce=np.ptp)) == {("end", "A", ""): [0.4, 0.2]}


def test_what_has_no_counterpart_is_left_out() -> None:
    asked = Cells("end", "gain", "{C} {rate}", dict(method="A"), minus=dict(method="B"))
    found = measure(asked)
    assert {where for _, _, where in found} == {"10 low", "2 low", "2 high"}
    assert found["end", "gain", "10 low"] == [-0.1, 0.1]


def test_tuned_cells_are_the_best_and_what_diverged_is_not() -> None:
    runs = make_runs(tuned=True)
    assert set(runs.best_cells()) == {
        ("10", "high", "A"), ("2", "low", "A"), ("10", "low", "B"), ("2", "high", "B"),
    }  # fmt: skip
    asked = Cells("end", "gain", "{C}", dict(method="A"), minus=dict(method="B"))
    found = measure(asked, tuned=True)  # each at its own best rate
    assert found == {("end", "gain", "10"): [0.4, 0.6], ("end", "gain", "2"): [0.2, 0.4]}
    lowest = Tuning(["rate"], low=True)
    assert lowest.rate_cell(runs, ("2", "low", "B")).tolist() == [-np.inf] * 2


def test_pooled_cells_lose_a_part_of_their_names() -> None:
    runs = make_runs()
    pooled = pool_cells(runs.data, 1)
    assert pooled["cells"].tolist() == ["10|A", "2|A", "10|B", "2|B"]
    assert pooled["test_accuracy"][0, :, 0].tolist() == pytest.approx([0.35, 0.55])


def test_curves_compete_among_those_that_agree() -> None:
    """A reaches 2.2, nine tenths of its worst's gain from 4 to 2, at its third of five measurements;
    alone, B needs the last, where it has nine tenths of its own gain from 4 to 3, which all compete for otherwise."""
    losses = {"1|A": [4.0, 3, 2, 1, 1], "2|A": [4.0, 4, 3, 3, 2], "1|B": [4.0, 4, 4, 4, 3]}
    data = dict(
        cells=np.array([*losses]),
        rounds=np.arange(5.0),
        test_loss=np.array([*losses.values()])[:, None],
    )
    for among, expected in ((["method"], [0.5, 1.0, 1.0]), ([], [0.25, 0.5, 1.0])):
        runs = Runs(
            data, ["n", "method"], measures=dict(r=rounds_to_worst("test_loss", among=among))
        )
        found = runs.measure_cells(Cells("r", "{n} {method}"))
        assert [float(values[0]) for values in found.values()] == expected


def test_panels_are_the_values_of_their_coordinates() -> None:
    runs = make_runs()
    at = lambda panels: [
        [(each.get("C"), each["quantity"]) for each in row]
        for row in panels.list_rows(lambda task: runs)
    ]
    lines = lines_of({"A": "fsl"})
    assert at(Panels(lines, across=["C"])) == [[("10", "test_accuracy"), ("2", "test_accuracy")]]
    two = Panels(lines, down="C", across=["quantity"], quantities=["x", "y"])
    assert at(two) == [[("10", "x"), ("10", "y")], [("2", "x"), ("2", "y")]]
    assert at(Panels(lines, across=["C"], wrap=1)) == [
        [("10", "test_accuracy")], [("2", "test_accuracy")],
    ]  # fmt: skip
    only = Panels(lines, across=["C"], only=dict(method="B", rate="high"))
    assert [[c for c, _ in row] for row in at(only)] == [["2"]]


def test_a_label_says_where_its_number_stands() -> None:
    assert insert_number("PT", "3") == "PT 3" and insert_number("PT {value} (x)", "3") == "PT 3 (x)"


def test_the_key_of_a_declared_figure_is_of_its_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """A changed text computes nothing anew, a changed run does."""

    def key(**changes: object) -> str:
        derived = dict.fromkeys(("compute", "draw", "rows", "caption", "findings"))
        changed = dataclasses.replace(fsl_fig7.FIGURE, **{**derived, **changes})
        monkeypatch.setattr(figures, "figure", lambda name: changed)
        return _store.arrays_key("fsl_fig7", "smoke")

    own = key()
    assert key(text="another", title="another") == own
    source = fsl_fig7.FIGURE.source
    assert key(source=source._replace(parts=["fig8"])) != own
    fewer = source.experiment._replace(seeds=dict(smoke=1))
    assert key(source=source._replace(experiment=fewer)) != own
    assert key(compute=lambda scale, progress: {}) != own


def test_derived_coordinates_are_those_of_a_cell() -> None:
    runs = make_runs()
    at: Coordinates = runs.coordinates_of(("2", "high", "B"))
    assert at["double"] == 4 and runs.select_cells(double=4, method="B") == [
        ("2", "low", "B"),
        ("2", "high", "B"),
    ]
