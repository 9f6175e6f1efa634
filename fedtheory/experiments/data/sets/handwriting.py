"""Handwriting drawn from fonts: a stand-in for EMNIST with an adjustable difference between
writers."""

from pathlib import Path
from typing import Any

import numpy as np

from fedtheory import arguments, rng
from fedtheory.errors import refuse
from fedtheory.experiments.data import _glyphs
from fedtheory.experiments.data._data import Data
from fedtheory.experiments.data._sets import Found, Set


def load(
    found: Found,
    writers: int = 24,
    each: int = 6,
    test: int = 2,
    classes: int = 47,
    side: int = 28,
    unlike: float = 1.0,
    seed: int = 0,
) -> Any:
    """Generate `each` training images and `test` test images of every class by every writer.

    Writer w has the font w of the folder (matplotlib's own, again and again, where no folder with
    fonts is named) and a hand of its own; `unlike` says how much hands differ. The last fonts are
    left for another source (`rendered`).
    """
    writers, each = (
        arguments.check_integer("writers", writers, 1),
        arguments.check_integer("each", each, 1),
    )
    test, side = (
        arguments.check_integer("test", test),
        arguments.check_integer("side", side, 4, _glyphs.SIDE),
    )
    classes = arguments.check_integer("classes", classes, 2, len(_glyphs.SIGNS))
    unlike, seed = arguments.check_real("unlike", unlike), arguments.check_seed(seed)
    fonts = writing_fonts(found)
    arguments.check_fits("writers and each", writers * classes, each + test, side * side)
    images = [
        _write_samples(fonts[w % len(fonts)], w, classes, each + test, side, unlike, seed)
        for w in range(writers)
    ]
    X = np.stack(images)  # writer, class, sample, row, column
    shape = np.broadcast_to
    labels, who = np.arange(classes)[None, :, None], np.arange(writers)[:, None, None]

    def part(count: int, values: np.ndarray) -> np.ndarray:
        return shape(values, (writers, classes, count)).ravel()

    parts = {
        "X": X[:, :, :each].reshape(-1, side, side),
        "y": part(each, labels),
        "writers": part(each, who),
    }
    if test:
        parts |= {
            "X_test": X[:, :, each:].reshape(-1, side, side),
            "y_test": part(test, labels),
            "writers_test": part(test, who),
        }
    return Data("handwriting", parts, classes)


def writing_fonts(found: Found) -> list[Path]:
    """Return the fonts that the writers use."""
    fonts = _glyphs.list_fonts(found.folder) or _glyphs.list_fonts()
    kept = fonts[: len(fonts) - _glyphs.OTHERS]
    if not kept:
        refuse("folder", f"must hold more than {_glyphs.OTHERS} fonts", len(fonts))
    return kept


def _write_samples(
    font: Path, w: int, classes: int, count: int, side: int, unlike: float, seed: int
) -> np.ndarray:
    generator = rng.host_generator(seed, f"handwriting {w}")
    hand = _glyphs.Hand(generator, unlike)
    return np.stack(
        [
            hand.write_samples(_glyphs.draw_sign(font, sign), generator, count, side)
            for sign in _glyphs.SIGNS[:classes]
        ]
    )


SET = Set(
    "handwriting", "letters and digits of fonts, a stand-in for EMNIST: a font is a writer", load
)
