"""Pictures of counterexamples: SVG that parses, with what there is to see in its place."""

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from fedtheory.rendering.picture import draw_counterexample

SHIPPED = json.loads(
    (Path(__file__).parents[1] / "second_opinion" / "certificates.json").read_text()
)
SVG = "{http://www.w3.org/2000/svg}"


def drawn(name):
    root = ElementTree.fromstring(draw_counterexample(SHIPPED[name]))
    labels = [each.text for each in root.iter(f"{SVG}text")]
    lines = [
        [tuple(map(float, p.split(","))) for p in each.get("points").split()]
        for each in root.iter(f"{SVG}polyline")
    ]
    return root, labels, lines


@pytest.mark.parametrize("name", sorted(SHIPPED))
def test_every_counterexample_has_a_picture(name):
    if "cells" in SHIPPED[name] or "equivalence" in SHIPPED[name]:
        assert draw_counterexample(SHIPPED[name]) == ""
        return
    root, labels, lines = drawn(name)
    wide, high = float(root.get("width")), float(root.get("height"))
    assert labels and all(0 <= x <= wide and 0 <= y <= high for line in lines for x, y in line)


def test_lemma_1_by_hand():
    """Losses -x, 0, x over [-1.2, 1.2]: a falling, a level and a rising line; clients end at 1, 0, -1."""
    root, labels, (falls, level, rises, *walks) = drawn("lamb.lemma1")
    assert {"f_1", "f_2", "f_3", "iteration 1"} <= set(labels)
    assert falls[0][1] < falls[-1][1] and rises[0][1] > rises[-1][1] and level[0][1] == level[-1][1]
    one, two, three = (walk[-1][0] - walk[0][0] for walk in walks)
    assert one > 0 == two and abs(one + three) < 0.2


def test_two_sides_where_nobody_goes_anywhere():
    """(1, 0) and itself: left 4, right 0."""
    root, labels, lines = drawn("mixed.stepD2")
    assert labels == ["left", "4", "right", "0"] and not lines
    widths = [float(each.get("width")) for each in root.iter(f"{SVG}rect")]
    assert widths[0] > 100 and widths[1] == 0
