"""Colours stay apart for all readers, labels do not overlap, nothing is too small to read at 3.3
inches."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.text import Text

import fedtheory as ft
from fedtheory.figures import _style

# Machado, Oliveira and Fernandes 2009, severity 1, on linear RGB
READERS = {
    "all colours": np.eye(3),
    "protanopia": np.array(
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ]
    ),
    "deuteranopia": np.array(
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ]
    ),
}
TO_XYZ = np.array(
    [
        [0.4124564, 0.3575761, 0.1804375],
        [0.2126729, 0.7151522, 0.0721750],
        [0.0193339, 0.1191920, 0.9503041],
    ]
)


def lab(colour, reader="all colours"):
    """CIE L*a*b* of a colour as a reader sees it."""
    rgb = np.array(to_rgb(colour))
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    seen = np.clip(READERS[reader] @ linear, 0, 1)
    t = TO_XYZ @ seen / TO_XYZ.sum(axis=1)
    x, y, z = np.where(t > (6 / 29) ** 3, np.cbrt(t), t / 3 * (29 / 6) ** 2 + 4 / 29)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def nearest(colours, reader):
    return min(
        np.linalg.norm(lab(a, reader) - lab(b, reader))
        for a, b in itertools.combinations(colours, 2)
    )


def greys(colours):
    """The least difference of lightness."""
    return min(abs(lab(a)[0] - lab(b)[0]) for a, b in itertools.combinations(colours, 2))


def colours(names):
    return [_style.algorithm_look(name).colour for name in names]


def test_every_algorithm_has_one_look_of_its_own():
    assert sorted(_style.ALGORITHMS) == ft.algorithms()
    looks = _style.ALGORITHMS.values()
    assert len({look.colour for look in looks}) == len({look.label for look in looks}) == len(looks)
    assert set().union(*_style.TOGETHER) == set(_style.ALGORITHMS)


@pytest.mark.parametrize("names", _style.TOGETHER, ids="+".join)
def test_what_appears_together_stays_apart(names):
    for reader in READERS:
        assert nearest(colours(names), reader) > 18, reader  # just noticeable: 2.3
    assert greys(colours(names)) > 8
    marks = [
        (str(_style.algorithm_look(name).dash), _style.algorithm_look(name).marker)
        for name in names
    ]
    assert len(set(marks)) == len({mark for _, mark in marks}) == len(names)


def test_lines_stand_out_from_paper():
    assert max(lab(look.colour)[0] for look in _style.ALGORITHMS.values()) < 76


def test_the_measure_tells_bad_palettes():
    assert nearest(["#ff0000", "#00ff00"], "all colours") > 100
    red_green = ["#c83c00", "#788200"]  # one colour to a deuteranope
    assert nearest(red_green, "all colours") > 40 and nearest(red_green, "deuteranopia") < 15
    assert greys(["#e69f00", "#56b4e9"]) < 4  # Okabe and Ito's orange and sky blue: one grey
    assert lab("#ffffff") == pytest.approx([100, 0, 0], abs=0.02)


def test_luminance_and_contrast():
    assert (
        _style.relative_luminance((1, 1, 1)) == pytest.approx(1)
        and _style.relative_luminance((0, 0, 0)) == 0
    )
    for look in _style.ALGORITHMS.values():
        assert (
            1.05 / (_style.relative_luminance(to_rgb(_style.darken_text(look.colour))) + 0.05)
            >= 2.99
        )
    assert _style.darken_text("#00319a") == "#00319a"


def slow_spread(wanted, gap, low, high):
    """The best places on a grid, by trying all that keep the order."""
    grid = np.arange(low, high + 1e-9, 0.05)
    fitting = [
        p
        for p in itertools.combinations(grid, len(wanted))
        if min(np.diff(p), default=gap) >= gap - 1e-9
    ]
    return min(np.sum((np.array(p) - wanted) ** 2) for p in fitting)


@pytest.mark.parametrize(
    "wanted", [(0.5, 0.5, 0.5), (0, 0.1, 0.9), (0.2, 0.25, 0.8), (1, 1, 0.95), (0.4,)]
)
def test_labels_take_the_nearest_free_places(wanted):
    order = np.sort(wanted)
    found = _style.spread_places(order, 0.2, 0, 1)
    assert np.sum((found - order) ** 2) <= slow_spread(order, 0.2, 0, 1) + 1e-9


@given(st.lists(st.floats(-1, 2), max_size=8))
def test_labels_keep_order_and_gap(wanted):
    places = _style.spread_places(wanted, 0.1, 0, 1)
    assert len(places) == len(wanted) and ((places >= -1e-9) & (places <= 1 + 1e-9)).all()
    order = np.argsort(wanted, kind="stable")
    assert (np.diff(places[order]) >= 0.1 - 1e-9).all()


def labelled(values):
    figure = Figure(figsize=(3.3, 2.2), layout="constrained")
    ax = figure.add_subplot()
    for name, value in zip(_style.ALGORITHMS, values):
        _style.draw_line(ax, np.arange(5), np.full(5, value), name)
    ax.set_ylim(0, 1)
    return figure, _style.direct_labels(ax)


def test_labels_at_equal_ends_do_not_overlap_and_stay_on_the_page():
    figure, texts = labelled([0.5, 0.5, 0.51, 0.9, 0.9, 0, 0])
    figure.draw_without_rendering()
    boxes = [Text.get_window_extent(text) for text in texts]  # without the hairs
    assert len(boxes) == 7
    bare = sorted((box.y0, box.y1) for box in boxes)
    heights = [(low + high) / 2 for low, high in bare]
    assert min(np.diff(heights)) > 0.95 * _style.SMALL * figure.dpi / 72
    assert all(
        box.x1 <= figure.bbox.x1 + 1 and box.y0 >= 0 and box.y1 <= figure.bbox.y1 for box in boxes
    )


def test_a_line_without_finite_points_has_no_label_and_a_falling_axis_is_read_from_the_right():
    assert len(labelled([np.nan, 0.5])[1]) == 1
    figure = Figure()
    ax = figure.add_subplot()
    ax.plot([1, 2, 3], [0.1, 0.5, 0.9], label="x")
    ax.set(xlim=(3, 1), ylim=(0, 1))
    assert _style.direct_labels(ax)[0].xy[1] == pytest.approx(0.1)


def test_a_band_lies_between_its_ends_in_the_lines_colour():
    ax = Figure().add_subplot()
    drawn = _style.draw_band(ax, np.arange(3), np.ones(3), np.zeros(3), np.full(3, 2.0), "fsl")
    assert drawn.get_color() == _style.algorithm_look("fsl").colour and drawn.get_label() == "FSL"
    assert np.ptp(ax.collections[0].get_paths()[0].vertices[:, 1]) == 2
