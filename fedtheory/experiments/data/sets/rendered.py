"""FSL's synthetic server data: 15 images per class, one font at five angles and three sizes
(section IV-C), from fonts that no writer of `handwriting` uses."""

from typing import Any

import numpy as np

from fedtheory import arguments
from fedtheory.experiments.data import _glyphs
from fedtheory.experiments.data._data import Data
from fedtheory.experiments.data._sets import Found, Set

ANGLES, SIZES = (
    (-20, -10, 0, 10, 20),
    (100, 110, 120),
)  # degrees; points of a 2 inch x 2 inch figure


def load(found: Found, classes: int = 47, side: int = 28, font: int = 0) -> Any:
    """Generate the images. `font` is the index, from 0, among the fonts that are reserved for the
    server."""
    classes = arguments.check_integer("classes", classes, 2, len(_glyphs.SIGNS))
    side = arguments.check_integer("side", side, 4, _glyphs.SIDE)
    font = arguments.check_integer("font", font, 0, _glyphs.OTHERS - 1)
    fonts = _glyphs.list_fonts(found.folder) or _glyphs.list_fonts()
    path = fonts[max(0, len(fonts) - _glyphs.OTHERS + font)]
    images = [
        _glyphs.shrink_image(_glyphs.draw_sign(path, sign, points, angle), side)
        for sign in _glyphs.SIGNS[:classes]
        for angle in ANGLES
        for points in SIZES
    ]
    y = np.repeat(np.arange(classes), len(ANGLES) * len(SIZES))
    return Data("rendered", {"X": np.stack(images), "y": y}, classes)


SET = Set("rendered", "one font at 5 angles and 3 sizes: the server's synthetic data of FSL", load)
