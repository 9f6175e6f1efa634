"""Arrays of one's own: .npz without pickles, and tables of comma-separated numbers."""

import csv
import io
import math
import zipfile
import zlib

import numpy as np

from fedtheory import arguments
from fedtheory.data import _files
from fedtheory.errors import InvalidInput, refuse

KINDS = "fiubU"  # floats, integers, booleans, text
BROKEN = (
    OSError,
    ValueError,
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    NotImplementedError,
    RuntimeError,
)


def npz(file, name=None, most=_files.LARGEST):
    """The arrays of an .npz file, or of a stream of this name; how much it claims to hold is
    checked before any is read."""
    arrays, name = {}, name or str(file)
    try:
        with zipfile.ZipFile(file) as archive:
            members = archive.infolist()
            if sum(member.file_size for member in members) > most:
                refuse(name, f"must hold at most {most} bytes", sum(m.file_size for m in members))
            for member in members:
                label = member.filename.removesuffix(".npy")
                if label in arrays:
                    refuse(name, "must name each array once", label)
                with archive.open(member) as stream:
                    arrays[label] = _array(stream.read(), f"{name}: {member.filename}")
    except BROKEN as error:
        raise InvalidInput(
            f"{name} must be a file of arrays; it cannot be read: {' '.join(str(error).split())}"
        ) from None
    return arrays


def _array(content, label):
    stream = io.BytesIO(content)
    version = np.lib.format.read_magic(stream)
    header = (
        np.lib.format.read_array_header_1_0
        if version == (1, 0)
        else np.lib.format.read_array_header_2_0
    )
    shape, _, dtype = header(stream)
    if dtype.kind not in KINDS:
        refuse(label, "must hold floats, integers, booleans or text", dtype)
    if math.prod(shape) * dtype.itemsize != len(content) - stream.tell():
        refuse(
            label,
            "must be as long as its header says",
            f"{shape} of {dtype} in {len(content)} bytes",
        )
    stream.seek(0)
    return np.lib.format.read_array(stream, allow_pickle=False)


def table(path, label=-1, most=2**28):
    """(X (n, features), y (n,)) of a table of numbers; `label` is the column of the label. A first
    row of names is left out; labels are numbered in their order, from 0."""
    text = _files.content(path, most).decode("utf-8", "replace")
    rows = [row for row in csv.reader(io.StringIO(text)) if row]
    if rows and not all(map(_is_number, rows[0])):
        rows = rows[1:]
    width = len(rows[0]) if rows else 0
    if width < 2:
        refuse(str(path), "must hold rows of two numbers or more", f"{len(rows)} rows")
    arguments.fits(str(path), len(rows), width)
    found = np.empty((len(rows), width))
    for n, row in enumerate(rows):
        if len(row) != width or not all(map(_is_number, row)):
            refuse(f"{path}: row {n + 1}", f"must hold {width} finite numbers", row)
        found[n] = [float(value) for value in row]
    if isinstance(label, bool) or not isinstance(label, int) or not -width <= label < width:
        refuse("label", f"must be a column of {width}", label)
    y = np.unique(found[:, label], return_inverse=True)[1]
    return np.delete(found, label, axis=1), y.astype(np.int64)


def _is_number(text):
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False
