"""Where a figure's arrays are kept: one .npz each, without pickles, named by what defines its
content.

The key hashes the scale, the part of the figure's file that `compute` uses, and the sources which
that part can reach. So a changed label redraws, a changed experiment computes anew, and a killed
run keeps what it finished.
"""

import hashlib
import io
import math
import zipfile
import zlib
from pathlib import Path

import numpy as np

from fedtheory import figures, sources
from fedtheory.errors import InvalidInput, refuse
from fedtheory.files import write

KINDS = "fiubU"  # floats, integers, booleans, text
LARGEST = 2**30  # bytes of one file's arrays


def key(name, scale):
    """Hex name of a figure's arrays at a scale."""
    own = figures.own().get(name)
    if own is not None:  # a user's: of the whole file
        part = own[0].sha256
    else:
        part = sources.part(sources.ROOT / "fedtheory" / "figures" / f"{name}.py", "compute")
    return hashlib.sha256(f"{name}\0{scale}\0{part}".encode()).hexdigest()[:20]


def path(folder, name, scale):
    return Path(folder) / f"{name}-{scale}-{key(name, scale)}.npz"


def checked(name, arrays):
    """What a figure computed, as arrays that can be saved."""
    if not isinstance(arrays, dict) or not arrays:
        refuse(f"{name}: compute", "must return a dict of arrays", arrays)
    found = {label: np.asarray(value) for label, value in arrays.items()}
    for label, array in found.items():
        if not str(label).isidentifier():
            refuse(f"{name}: the name of an array", "must be an identifier", label)
        if array.dtype.kind not in KINDS:
            refuse(f"{name}: {label}", "must hold floats, integers, booleans or text", array.dtype)
    return found


def save(file, arrays):
    """Keep arrays; those of the same figure and scale under an older key go."""
    stream = io.BytesIO()
    np.savez_compressed(stream, **dict(sorted(arrays.items())))
    write(file, stream.getvalue())
    for other in file.parent.glob(f"{file.name.rpartition('-')[0]}-*.npz"):
        if other != file:
            other.unlink(missing_ok=True)


def load(file, name=None, most=None):
    """The arrays of a file, or of a stream of this name; how much it claims to hold is checked
    before any is read."""
    arrays, name, most = {}, name or str(file), most or LARGEST
    try:
        with zipfile.ZipFile(file) as archive:
            members = archive.infolist()
            if sum(member.file_size for member in members) > most:
                refuse(name, f"must hold at most {most} bytes", sum(m.file_size for m in members))
            for member in members:
                with archive.open(member) as stream:
                    arrays[member.filename.removesuffix(".npy")] = _array(
                        stream.read(), f"{name}: {member.filename}"
                    )
    except (
        OSError,
        ValueError,
        zipfile.BadZipFile,
        zlib.error,
        EOFError,
        NotImplementedError,
        RuntimeError,
    ) as error:
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
