"""Captions: numbers and lists as they stand in a sentence, and every figure has one."""

import numpy as np
import pytest

from fedtheory import figures
from fedtheory.figures import _caption
from fedtheory.symbols import fsl


@pytest.mark.parametrize(
    "value, digits, text",
    [
        (0, 3, "0"),
        (1280, 3, r"1\,280"),
        (0.05, 3, "0.05"),
        (0.28284, 3, "0.283"),
        (157.3, 2, "160"),
        (4.2e30, 2, r"4.2\times10^{30}"),
        (1e-6, 3, "10^{-6}"),
        (-3, 2, "-3"),
        (np.inf, 2, r"\infty"),
    ],
)
def test_numbers(value, digits, text):
    assert _caption.bare_number(value, digits) == text


def test_constants_have_the_papers_letters():
    assert (
        _caption.constants_text(fsl.TABLE, dict(eta_l=0.5, N=8, d=2))
        == r"$\eta_l=0.5$, $N=8$, $d=2$"
    )


def test_lists():
    assert _caption.join_words(["a"]) == "a" and _caption.join_words([]) == "none"
    assert (
        _caption.join_words("abc") == "a, b and c"
        and _caption.join_words("abcd", 3) == "a, b and 2 more"
    )
    assert _caption.join_words(["a, 1", "b"]) == "a, 1; b"


def test_every_figure_says_what_is_plotted_and_what_it_shows():
    for name, record in figures.figures().items():
        assert record.caption, f"{name} has no caption"
        assert record.says or record.findings, f"{name} does not say what it shows"
