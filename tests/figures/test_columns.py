"""Versions of figures for one column: the same panels with their labels, in the width, nothing lost."""

import re

import matplotlib
import numpy as np
import pytest
from matplotlib.figure import Figure as Plain

from fedtheory import figures
from fedtheory.figures import _columns, _export, _looks, _panels, _style
from fedtheory.figures._record import WIDTHS, Figure
from tests.figures.looks import faults

# Page-wide, and why: tables, and lists whose names fill half of the page or which are a grid of three
WIDE = {
    *("all_conservatism", "mutants_fsl", "theory_mixed", "mixed_table12", "flex_table3"),
    *(f"{kind}_{paper}" for kind in ("proof", "printed") for paper in ("fsl", "mixed", "flex")),
    *("proof_lamb", "printed_lamb", "slack_fsl", "slack_mixed"),
}


def grid(rows, columns, **more):
    """A record of panels whose lines say where they were: panel (r, c) has the point (r, c)."""

    def draw(figure, data):
        axes = figure.subplots(rows, columns, squeeze=False, **more)
        for (r, c), ax in np.ndenumerate(axes):
            ax.plot([r, r + 1], [c, c + 1], label=f"line {r} {c}")
            ax.set_title(f"{r} {c}")
        for r, row in enumerate(axes):
            row[0].set_ylabel(f"height {r}")
        for ax in axes[-1]:
            ax.set_xlabel("time")
        figure.legend(handles=axes[0, 0].lines, loc="outside lower center", ncols=5)

    return Figure("a paper", "A grid", None, draw, width="page", height=1.5 * rows, stacks=True)


def placed(figure):
    """[(title, ylabel, xlabel)] of panels from top to bottom, in pairs from left to right."""
    key = lambda ax: (-round(ax.get_position().y1, 2), ax.get_position().x0)
    return [
        (ax.get_title(loc="left"), ax.get_ylabel(), ax.get_xlabel())
        for ax in sorted(figure.axes, key=key)
    ]


@pytest.mark.parametrize(
    "rows, columns, titles",
    [
        (1, 3, ["0 0", "0 1", "0 2"]),
        (1, 4, ["0 0", "0 1", "0 2", "0 3"]),
        (2, 3, ["0 0", "1 0", "0 1", "1 1", "0 2", "1 2"]),  # two rows become two columns
        (2, 2, ["0 0", "0 1", "1 0", "1 1"]),
    ],
)
def test_panels_keep_their_order_and_their_labels(rows, columns, titles):
    with matplotlib.rc_context(_style.RC):
        figure = _columns.draw_column(grid(rows, columns, sharex=True, sharey="row"), {})
        figure.draw_without_rendering()
    found = placed(figure)
    assert [title for title, _, _ in found] == titles
    assert figure.get_size_inches()[0] == pytest.approx(WIDTHS["column"])
    assert faults(figure) == [] and _looks.points_outside(figure) == []
    for title, ylabel, _ in found:
        alone = title == titles[0] or ylabel
        assert not ylabel or ylabel == f"height {title[0]}"
        assert alone or columns > 3 or rows == 2  # a panel without a label stands right of its own
    assert [xlabel for _, _, xlabel in found][-1] == "time"


def test_a_label_is_not_written_where_the_neighbour_says_it():
    with matplotlib.rc_context(_style.RC):
        labels = placed(_columns.draw_column(grid(1, 4, sharex=True, sharey=True), {}))
    assert [label for _, label, _ in labels] == ["height 0", "", "height 0", ""]
    assert [label for _, _, label in labels] == ["", "", "time", "time"]


def test_a_column_is_exported_beside_the_page():
    data = {"x": np.arange(3.0)}
    files = _export.draw_pictures(grid(1, 2), data)
    assert {"pdf", "svg", "png", "column.pdf"} == set(files)
    box = re.search(rb"/MediaBox \[ 0 0 ([0-9.]+) ", files["column.pdf"])
    assert float(box[1]) == pytest.approx(72 * WIDTHS["column"])
    assert files == _export.draw_pictures(grid(1, 2), data)


def test_wide_figures_of_panels_have_a_column_and_no_other_has():
    stacked = {name for name, record in figures.figures().items() if record.stacks}
    assert not stacked & WIDE and {"theory_fsl", "theory_flex", "theory_lamb"} <= stacked
    assert {figures.figure(name).width for name in stacked} == {"page"}
    assert len(stacked) > 25


def test_bars_of_one_place_stand_side_by_side():
    ax, values = Plain().subplots(), np.array([[1.0, 2.0], [3.0, 5.0]])
    for n in range(3):
        _panels.draw_bars(ax, [0, 10], values, "fsl", "FSL", (n, 3))
    places = [container[0].get_xdata() for container in ax.containers]
    assert np.allclose(places, [[-1, 9], [0, 10], [1, 11]])
    assert np.allclose(ax.containers[0][0].get_ydata(), [1.5, 4.0])
    ends = ax.containers[0][2][0].get_segments()
    assert np.allclose(np.array(ends)[:, :, 1], values)
    alike = np.full((2, 3), 0.1)
    # by rounding: no bar is less than nothing
    assert (alike.mean(axis=1) > alike.max(axis=1)).all()
    _panels.draw_bars(ax, [0, 10], alike, "fsl", "FSL")
    ends = ax.containers[-1][2][0].get_segments()
    assert np.allclose(np.array(ends)[:, :, 1], 0.1)


def test_a_legend_below_names_each_line_once_in_its_look():
    figure = Plain(figsize=(4, 3), layout="constrained")
    for ax in figure.subplots(1, 2):
        _style.draw_line(ax, [0, 1], [0, 1], "fedavg", "FL")
        _panels.draw_bars(ax, [0, 1], np.ones((2, 2)), "fsl", "FSL")
    _style.legend_below(figure, *figure.axes)
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["FL", "FSL"]
    dashes = [line._unscaled_dash_pattern for line in legend.get_lines()]
    assert dashes == [(0, (1, 1.2)), (0, None)]
    figure.draw_without_rendering()
    box = legend.get_window_extent()
    assert not any(box.overlaps(ax.get_window_extent()) for ax in figure.axes)
