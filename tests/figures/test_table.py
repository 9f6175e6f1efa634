"""Tables as pictures: ours beside the paper's, marked where they agree and differ."""

import numpy as np
import pytest
from matplotlib.figure import Figure

from figures import _table
from figures._findings import INCONCLUSIVE, NOT_REPRODUCED, REPRODUCED

SEEDS = np.array([10., 11, 12, 13, 14])    # mean 12, deviation 1.58


@pytest.mark.parametrize("value, text", [
    (0, "0"), (3, "3"), (-2, "−2"), (1234567., r"$1.23\times10^{6}$"), (.012345, "0.0123"), (12.3456, "12.3"),
    (1234., "1,234"), (1234.5, "1,234"), (np.nan, "–"), (np.inf, "∞"), (-np.inf, "−∞"),
    (-2.5e-7, r"$−2.50\times10^{-7}$")])
def test_numbers(value, text):
    assert _table.number(value) == text


def test_mean_and_deviation():
    assert _table.spread_of(SEEDS) == "12.0 ± 1.6"
    assert _table.spread_of(-SEEDS / 100) == "−0.120 ± 0.016"
    assert _table.spread_of([-1.01, 1.0]) == "0.0 ± 1.4"    # no minus zero
    assert _table.spread_of([3., 3, 3]) == "3" and _table.spread_of([1, np.nan]) == "–" == _table.spread_of([])


def test_marks_are_decided_from_seeds():
    rows = [["x", (SEEDS, "12.1", None), (SEEDS, "40", None)], ["y", (SEEDS[:3], "12", None), ("7", "7", REPRODUCED)],
            ["z", (SEEDS, "–", None), (SEEDS, "12.1", NOT_REPRODUCED)]]
    text, marks = _table.table_rows(["", "loss", "rounds"], rows)
    assert text[0] == ["", "loss, ours", "loss, paper", "rounds, ours", "rounds, paper"]
    assert text[1] == ["x", "12.0 ± 1.6", "12.1", "12.0 ± 1.6", "40"]
    assert marks == {(0, 1): REPRODUCED, (0, 3): NOT_REPRODUCED, (1, 1): INCONCLUSIVE, (1, 3): REPRODUCED,
                     (2, 1): INCONCLUSIVE, (2, 3): NOT_REPRODUCED}


def test_the_picture_holds_every_cell_and_mark_without_overlap():
    figure = Figure(figsize=(3.3, 1.5))
    rows = [["method A", (SEEDS, "12.1", None), (SEEDS, "40", None)], ["method B", (SEEDS, "11", None), ("1", "2", "")]]
    ax = _table.ours_beside_paper(figure, ["", "loss", "rounds"], rows, note="a note")
    figure.draw_without_rendering()
    shown = [text for text in ax.texts if text.get_text()]
    words = [text.get_text() for text in shown]
    assert words.count("12.0 ± 1.6") == 3 and {"40", "✓", "✗", "loss", "rounds", "a note"} <= set(words)
    boxes = [text.get_window_extent() for text in shown]
    clashes = [(a, b) for n, a in enumerate(words) for m, b in enumerate(words[:n])
               if boxes[n].shrunk(.98, .6).overlaps(boxes[m].shrunk(.98, .6))]
    assert not clashes
    assert all(0 <= box.x0 and box.x1 <= figure.bbox.x1 and box.y1 <= figure.bbox.y1 + 1 for box in boxes)


def test_a_command_of_mathematics_counts_as_one_sign():
    assert _table.length(r"$\eta_l$") == 2 and _table.length(r"$\frac{1}{8\beta}$") == 3 and _table.length("ab") == 2
