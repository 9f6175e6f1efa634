"""STL-10: images of 3 x 96 x 96 bytes in column-major order, and labels from 1 on."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from fedtheory.errors import refuse
from fedtheory.experiments.data import _files

if TYPE_CHECKING:
    import numpy as np

SHAPE, PIXELS, CLASSES = (3, 96, 96), 3 * 96 * 96, 10


def read_images(path: Path) -> Any:
    """Read the images (n, 3, 96, 96), with rows before columns."""
    size = path.stat().st_size
    if size == 0 or size % PIXELS:
        refuse(str(path), f"must hold images of {PIXELS} bytes", f"{size} bytes")
    return _files.read_exactly(path, size).reshape(-1, *SHAPE).swapaxes(2, 3)


def read_labels(path: Path) -> "np.ndarray":
    """Read the labels (n,), shifted to 0 .. 9."""
    found = _files.read_exactly(path, path.stat().st_size)
    if not len(found) or found.min() < 1 or found.max() > CLASSES:
        refuse(str(path), f"must hold labels of 1 .. {CLASSES}", found[:10].tolist())
    return found - 1
