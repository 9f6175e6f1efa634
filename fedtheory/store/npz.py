"""Archives of arrays (.npz), read without pickles and in bounded memory.

Archives may come from anybody. A header could claim any size and an object array could run code, so
sizes are compared with the archive's own listing, and only the kinds of numbers in KINDS are read.
"""

import math
import tokenize
import zipfile
import zlib
from pathlib import Path
from typing import IO, Any

import numpy as np

from fedtheory import arguments
from fedtheory.errors import InvalidInput, describe, refuse

LARGEST = 2**31  # bytes that one file may unfold to
BLOCK = 2**20  # bytes that are read at once
KINDS = "fiubU"  # floats, integers, booleans, text
BROKEN = (
    OSError,
    ValueError,
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    NotImplementedError,
    RuntimeError,
    SyntaxError,  # a header of NumPy's is a Python literal
    tokenize.TokenError,
)


def read_npz(
    file: str | Path, name: str | None = None, most: int = LARGEST, only: Any = None
) -> Any:
    """Read the arrays of an .npz file, or of a stream called `name`; only the arrays named in
    `only`, if given. The claimed size is checked before any array is read.

    `most` is the limit in bytes of all arrays together. Return {name: array}. Raises InvalidInput
    for a larger archive, an array named twice, an array of objects, a length that its header does
    not give, and any file that is no archive.
    """
    arrays, name = {}, name or str(file)
    most = arguments.check_integer("most", most, 1, 2**62)
    try:
        with zipfile.ZipFile(file) as archive:
            members = archive.infolist()
            if sum(member.file_size for member in members) > most:
                refuse(name, f"must hold at most {most} bytes", sum(m.file_size for m in members))
            for member in members:
                label = member.filename.removesuffix(".npy")
                if label in arrays:
                    refuse(name, "must name each array once", label)
                if only is None or label in only:
                    with archive.open(member) as stream:
                        arrays[label] = _read_array(stream, member, f"{name}: {member.filename}")
    except BROKEN as error:
        if isinstance(error, InvalidInput):
            raise
        raise InvalidInput(
            f"{name} must be a file of arrays; it cannot be read: {describe(error)}"
        ) from None
    return arrays


def _read_array(stream: IO[bytes], member: zipfile.ZipInfo, label: str) -> np.ndarray:
    """Return an array read directly into its own memory, without a second copy.

    The header is parsed by NumPy, whose own reader would fall back to pickles. The array stays in
    the order of its header, by rows or by columns.
    """
    version = np.lib.format.read_magic(stream)
    header = (
        np.lib.format.read_array_header_1_0
        if version == (1, 0)
        else np.lib.format.read_array_header_2_0
    )
    shape, columns_first, dtype = header(stream)
    if dtype.kind not in KINDS:
        refuse(label, "must hold floats, integers, booleans or text", dtype)
    size = math.prod(shape) * dtype.itemsize
    if size != member.file_size - stream.tell():
        refuse(
            label,
            "must be as long as its header says",
            f"{shape} of {dtype} in {member.file_size} bytes",
        )
    found = np.empty(shape, dtype, order="F" if columns_first else "C")
    room, place = found.reshape(-1, order="A").view(np.uint8).data, 0
    while place < size and (part := stream.read(min(BLOCK, size - place))):
        room[place : place + len(part)] = part
        place += len(part)
    if place < size:
        refuse(label, "must be as long as its header says", f"{place} bytes of {size}")
    return found
