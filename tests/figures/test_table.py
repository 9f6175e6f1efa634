"""Tables as pictures: ours beside the paper's, marked where they agree and differ."""

import numpy as np
import pytest
from matplotlib.figure import Figure

from fedtheory.figures import _export, _table
from fedtheory.figures._findings import NO_POWER, NOT_REPRODUCED, REPRODUCED
from fedtheory.figures._record import Figure as Record
from fedtheory.figures._table import Cell

SEEDS = np.array([10.0, 11, 12, 13, 14])  # mean 12, deviation 1.58


@pytest.mark.parametrize(
    "value, text",
    [
        (0, "0"),
        (3, "3"),
        (-2, "−2"),
        (1234567.0, r"$1.23\times10^{6}$"),
        (0.012345, "0.0123"),
        (12.3456, "12.3"),
        (1234.0, "1,234"),
        (1234.5, "1,234"),
        (np.nan, "–"),
        (np.inf, "∞"),
        (-np.inf, "−∞"),
        (-2.5e-7, r"$−2.50\times10^{-7}$"),
    ],
)
def test_numbers(value, text):
    assert _table.number_text(value) == text


def test_mean_and_deviation():
    assert _table.spread_of(SEEDS) == "12.0 ± 1.6"
    assert _table.spread_of(-SEEDS / 100) == "−0.120 ± 0.016"
    assert _table.spread_of([-1.01, 1.0]) == "0.0 ± 1.4"  # no minus zero
    assert _table.spread_of([3.0, 3, 3]) == "3" and _table.spread_of(
        [1, np.nan]
    ) == "–" == _table.spread_of([])


def test_marks_are_the_cells_and_stay_in_every_table():
    rows = [
        ["x", Cell("12.0 ± 1.6", "12.1", REPRODUCED, "a"), "alone"],
        ["y", Cell("7", "9", NO_POWER, "b"), "5"],
        ["z", Cell("7", "–"), "6"],
    ]
    text = _table.table_rows(["", "loss", "other"], rows)
    assert text == [
        ["", "loss, ours", "loss, paper", "other"],
        ["x", "12.0 ± 1.6 ✓", "12.1", "alone"],
        ["y", "7 ↔", "9", "5"],
        ["z", "7", "–", "6"],
    ]
    tex = _export.table_files(Record(cites="house", title="t", compute=None, draw=None), text)[
        "tex"
    ]
    assert r"12.0 $\pm$ 1.6 $\surd$" in tex and r"7 $\leftrightarrow$" in tex


def test_the_picture_holds_every_cell_and_mark_without_overlap():
    figure = Figure(figsize=(3.3, 1.5))
    rows = [
        [
            "method A",
            Cell("12.0 ± 1.6", "12.1", REPRODUCED, "a"),
            Cell("12.0 ± 1.6", "40", NOT_REPRODUCED, "b"),
        ],
        ["method B", Cell("12.0 ± 1.6", "11", NO_POWER, "c"), Cell("1", "2")],
    ]
    ax = _table.ours_beside_paper(figure, ["", "loss", "rounds"], rows, note="a note")
    figure.draw_without_rendering()
    shown = [text for text in ax.texts if text.get_text()]
    words = [text.get_text() for text in shown]
    assert words.count("12.0 ± 1.6") == 3 and {
        "40",
        "✓",
        "✗",
        "↔",
        "loss",
        "rounds",
        "a note",
    } <= set(words)
    assert {text.get_gid(): text.get_text() for text in shown if text.get_gid()} == {
        "a": "✓",
        "b": "✗",
        "c": "↔",
    }
    boxes = [text.get_window_extent() for text in shown]
    clashes = [
        (a, b)
        for n, a in enumerate(words)
        for m, b in enumerate(words[:n])
        if boxes[n].shrunk(0.98, 0.6).overlaps(boxes[m].shrunk(0.98, 0.6))
    ]
    assert not clashes
    assert all(
        0 <= box.x0 and box.x1 <= figure.bbox.x1 and box.y1 <= figure.bbox.y1 + 1 for box in boxes
    )


def test_a_command_of_mathematics_counts_as_one_sign():
    assert (
        _table.shown_length(r"$\eta_l$") == 2
        and _table.shown_length(r"$\frac{1}{8\beta}$") == 3
        and _table.shown_length("ab") == 2
    )
