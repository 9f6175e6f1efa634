"""The store of figures' arrays: one .npz file for each, without pickles, named by a key of
everything that defines its content.

The key hashes the scale, the part of the figure's file that `compute` uses, and the sources which
that part can reach; of a declared figure, its runs and the code that computes runs. So a changed label redraws, a changed experiment computes anew, and a killed
run keeps what it finished.
"""

import hashlib
import io
import re
from pathlib import Path

import numpy as np

from fedtheory import figures
from fedtheory.errors import refuse
from fedtheory.figures._experiment import ExperimentFigure
from fedtheory.store import outputs, source_hash
from fedtheory.store.npz import KINDS, read_npz

LARGEST = 2**30  # bytes of one file's arrays


def arrays_key(name, scale):
    """Return the hexadecimal key of a figure's arrays at a scale."""
    own, record = figures.user_figures().get(name), figures.figure(name)
    if own is not None:  # a user's: of the whole file
        part = own[0].sha256
    elif isinstance(record, ExperimentFigure) and record.compute == record.gather_arrays:
        part = record.arrays_digest(scale)
    else:
        file = source_hash.source_file(f"fedtheory.figures.{name}")
        part = source_hash.part_digest(file, "compute_arrays")
    return hashlib.sha256(f"{name}\0{scale}\0{part}".encode()).hexdigest()[:20]


def arrays_path(folder, name, scale):
    return Path(folder) / f"{name}-{scale}-{arrays_key(name, scale)}.npz"


def check_arrays(name, arrays):
    """Check that a figure computed a non-empty dictionary of arrays that can be saved, and return
    the arrays."""
    if not isinstance(arrays, dict) or not arrays:
        refuse(f"{name}: compute", "must return a dict of arrays", arrays)
    in_order = sorted(arrays.items(), key=lambda item: str(item[0]))  # as they are read again
    found = {label: np.asarray(value) for label, value in in_order}
    for label, array in found.items():
        if not str(label).isidentifier():
            refuse(f"{name}: the name of an array", "must be an identifier", label)
        if array.dtype.kind not in KINDS:
            refuse(f"{name}: {label}", "must hold floats, integers, booleans or text", array.dtype)
    return found


def save_arrays(file, arrays):
    """Save arrays, and delete the arrays of the same figure and scale under an older key if they
    are unchanged since they were written. Return sentences on where files that no command of this
    package wrote were moved to."""
    stream = io.BytesIO()
    np.savez_compressed(stream, **dict(sorted(arrays.items())))
    folder, name = outputs.folder_for(file)
    older = folder.matching(re.escape(name.rpartition("-")[0]) + r"-\w+\.npz")
    return folder.write_over({name: stream.getvalue()}, older)


def load_arrays(file, name=None, most=None):
    """Load the arrays of a file, or of a stream with this name; the size that the file declares is
    checked before any array is read."""
    return read_npz(file, name, most or LARGEST)
