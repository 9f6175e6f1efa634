"""idx, the format of MNIST: two zero bytes, a type, the number of axes, the axis lengths, the
values."""

import math
import re
from pathlib import Path

import numpy as np

from fedtheory.errors import refuse
from fedtheory.experiments.data import _files
from fedtheory.typing import Number

NAME = re.compile(r"[-.]idx\d?(-ubyte)?(\.gz)?$")  # as such files are called
BYTE, AXES = 0x08, 4  # unsigned bytes are all that these sets hold


def read_idx(path: Path, axes: Number = None) -> np.ndarray | np.memmap:
    """Read the array of an idx file of bytes; a file with another number of axes than `axes`, if
    given, is refused."""
    with _files.open_unpacked(path) as stream:
        head = _files.read_limited(stream, 4, path)
        count = head[3] if len(head) == 4 else 0
        if len(head) < 4 or head[:3] != bytes([0, 0, BYTE]) or not 1 <= count <= AXES:
            refuse(str(path), "must begin as an idx file of bytes does (0, 0, 8, axes)", head)
        if axes is not None and count != axes:
            refuse(str(path), f"must have {axes} axes", count)
        lengths = _files.read_limited(stream, 4 * count, path)
    if len(lengths) < 4 * count:
        refuse(str(path), f"must say the lengths of its {count} axes", lengths)
    shape = tuple(int(n) for n in np.frombuffer(lengths, ">u4"))
    return _files.read_exactly(path, math.prod(shape), 4 + 4 * count).reshape(shape)
