"""Letters and digits drawn from fonts by FreeType, which matplotlib ships.

A font is a writer. Where no fonts are handed in, writers are strokes: slants, proportions, weights
and bends of matplotlib's own fonts.
"""

from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np

from fedtheory.errors import InvalidInput, refuse

if TYPE_CHECKING:
    from matplotlib.ft2font import FT2Font

# EMNIST-Balanced's classes: small letters that look like their capitals are one class with them
SIGNS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabdefghnqrt"
OWN = (  # matplotlib's fonts of letters, upright and slanted; the last three are another family's
    "DejaVuSans",
    "DejaVuSans-Oblique",
    "DejaVuSerif",
    "DejaVuSerif-Italic",
    "DejaVuSansMono",
    "DejaVuSansMono-Oblique",
    "STIXGeneral",
    "STIXGeneralItalic",
    "cmr10",
    "cmss10",
    "cmtt10",
)
OTHERS = 3  # of them, which no writer uses: another source's
LARGEST, MOST = 2**25, 2000  # bytes of a font, and fonts
SIDE = 112  # pixels of 2 inches, four times 28
DRAWING = Lock()  # a face holds what it draws: threads that share one take turns
POINTS = 100  # FSL's smallest size: 100 / 72 of 2 inches


def list_fonts(folder: Path | None = None) -> list[Path]:
    """Return the paths of the fonts in a folder and its subfolders, or of matplotlib's own fonts."""
    if folder is None:
        import matplotlib

        base = Path(matplotlib.get_data_path()) / "fonts" / "ttf"
        return [base / f"{name}.ttf" for name in OWN]
    found = sorted(
        path
        for path in Path(folder).rglob("*")
        if path.suffix.lower() in (".ttf", ".otf") and path.is_file()
    )
    return [path for path in found if "guides" not in path.name.lower()][:MOST]


@lru_cache(maxsize=64)
def open_face(path: Path) -> "FT2Font":
    """Return FreeType's face of a font, and refuse a font that lacks a character of SIGNS."""
    from matplotlib.ft2font import FT2Font

    if path.stat().st_size > LARGEST:
        refuse(str(path), f"must be a font of at most {LARGEST} bytes", path.stat().st_size)
    try:
        found = FT2Font(str(path))
    except RuntimeError as error:
        raise InvalidInput(f"{path} must be a font; FreeType says: {error}") from None
    missing = "".join(sign for sign in SIGNS if not found.get_char_index(ord(sign)))
    if missing:
        refuse(str(path), "must have every letter and digit", f"none of {missing}")
    return found


def draw_sign(path: Path, sign: str, points: int = POINTS, turn: float = 0.0) -> np.ndarray:
    """Draw a character of size `points` in the middle of 2 x 2 inches, turned counterclockwise by
    `turn` degrees. Return the image (SIDE, SIDE) with values in [0, 1]."""
    with DRAWING:
        font = open_face(path)
        font.set_size(points, SIDE / 2)
        font.set_text(sign, turn)
        font.draw_glyphs_to_bitmap(antialiased=True)
        bitmap = np.array(font.get_image(), np.float32) / 255.0
    rows, columns = (np.flatnonzero(bitmap.any(axis=axis)) for axis in (1, 0))
    if not len(rows):
        refuse(str(path), "must draw every letter and digit", sign)
    ink = bitmap[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1][:SIDE, :SIDE]
    image = np.zeros((SIDE, SIDE), np.float32)
    top, left = (SIDE - ink.shape[0]) // 2, (SIDE - ink.shape[1]) // 2
    image[top : top + ink.shape[0], left : left + ink.shape[1]] = ink
    return image


def shrink_image(image: np.ndarray, side: int) -> np.ndarray:
    """Reduce a square image to side x side means of its pixels, as bytes."""
    from fedtheory.experiments.data._data import smaller

    return np.rint(255 * smaller(image[None], side)[0]).astype(np.uint8)


class Hand:
    """The style of a writer: slant, proportion, weight and bend of characters, and how much each of
    these varies."""

    def __init__(self, generator: np.random.Generator, unlike: float) -> None:
        draw = generator.standard_normal
        self.slant = unlike * 0.18 * draw()
        self.stretch = np.exp(unlike * 0.10 * draw(2))
        self.weight = 2.3 * np.exp(unlike * 0.25 * np.tanh(draw()))  # half a stroke, in 1/56
        self.bend = unlike * 0.05 * draw((2, 3))
        self.turn = unlike * 0.10 * draw()

    def write_samples(
        self,
        image: np.ndarray,
        generator: np.random.Generator,
        count: int,
        side: int,
        vary: float = 1.0,
    ) -> np.ndarray:
        """Return (count, side, side) bytes: samples of one character by this writer, fitted into
        the square as EMNIST's images are."""
        draw = generator.standard_normal
        within, size = _inside_distance(image), _character_size(image)
        turns = self.turn + vary * 0.09 * draw(count)
        slants = self.slant + vary * 0.08 * draw(count)
        scales = (0.78 / size) * self.stretch[:, None] * np.exp(vary * 0.06 * draw((2, count)))
        moves = vary * 0.05 * draw((2, count))
        bends = self.bend[..., None] + vary * 0.02 * draw((2, 3, count))
        places = (np.arange(side) + 0.5) * (2 / side) - 1
        down, across = (each[..., None] for each in np.meshgrid(places, places, indexing="ij"))
        wave = lambda u, v, b: b[0] * np.sin(2.5 * u) + b[1] * np.sin(2.5 * v) + b[2] * u * v
        rows = down + wave(down, across, bends[0]) - moves[0]
        columns = across + wave(across, down, bends[1]) - moves[1] + slants * down
        cos, sin = np.cos(turns), np.sin(turns)
        source = (cos * rows - sin * columns) / scales[0], (sin * rows + cos * columns) / scales[1]
        thicker = self.weight * size / 0.78 - 2 * within[within > 0].mean()
        edge = _interpolate(within, *source) + np.clip(thicker, 0.4, 4.0)
        ink = np.clip(edge * (0.78 / size) * (side / len(within)) + 0.5, 0, 1)
        return np.rint(255 * np.moveaxis(ink, 2, 0)).astype(np.uint8)


def _inside_distance(image: np.ndarray) -> np.ndarray:
    """Return at half resolution the signed distance of each pixel to the edge of the ink, positive
    inside. The level sets are strokes of other weights, so that a hairline remains a line."""
    from scipy.ndimage import distance_transform_edt

    ink = image.reshape(SIDE // 2, 2, SIDE // 2, 2).mean(axis=(1, 3)) > 0.3
    return distance_transform_edt(ink) - distance_transform_edt(~ink) + np.where(ink, -0.5, 0.5)


def _character_size(image: np.ndarray) -> float:
    """Return the longer side of the drawn character as a share of the square's side, at least 1/4."""
    sides = [np.ptp(np.flatnonzero(image.any(axis=axis))) + 1 for axis in (0, 1)]
    return max(*sides, SIDE // 4) / SIDE


def _interpolate(image: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Return the bilinear interpolation of an image at points of [-1, 1]. Points outside the image
    have values far from ink."""
    n = len(image)
    at = [np.clip((each + 1) * (n / 2) - 0.5, -1, n) for each in (rows, columns)]
    low = [np.floor(each).astype(np.int64) for each in at]
    share = [each - first for each, first in zip(at, low)]
    padded = np.pad(image, ((1, 2), (1, 2)), constant_values=-len(image))
    corner = lambda i, j: padded[low[0] + 1 + i, low[1] + 1 + j]
    upper = corner(0, 0) * (1 - share[1]) + corner(0, 1) * share[1]
    lower = corner(1, 0) * (1 - share[1]) + corner(1, 1) * share[1]
    return upper * (1 - share[0]) + lower * share[0]
