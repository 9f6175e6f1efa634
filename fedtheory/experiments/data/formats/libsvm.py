"""LIBSVM's format: one line per sample with a label and `feature:value` pairs, features numbered
from 1."""

import io
import re
from pathlib import Path

import numpy as np

from fedtheory import arguments
from fedtheory.errors import refuse
from fedtheory.experiments.data import _files

MOST, FEATURES = 2**28, 2**20
COMMENT = re.compile(rb"#[^\n]*")
BLANKS = bytes.maketrans(b"\t\v\f", b"   ")
PARTED = bytes.maketrans(b"\t\v\f :", b"\n\n\n\n\n")


def read_libsvm(
    path: Path, features: int | None = None, cells: int = _files.CELLS
) -> tuple[np.ndarray, np.ndarray]:
    """Return (X (n, features), y (n,)) of a file; labels are replaced by their ranks from 0. More
    than `cells` numbers, in the file or in X, are refused."""
    width = None if features is None else arguments.check_integer("features", features, 1)
    cells = arguments.check_integer("cells", cells, 1, 2**62)
    labels, counts = _files.Column(np.float64), _files.Column(np.int32)
    places, values = _files.Column(np.int32), _files.Column(np.float64)
    row, widest = 1, 0
    for block in _files.read_line_blocks(path, MOST):
        found = _parse_pairs(block)
        if found is None:
            _refuse_row(path, block, row)
        for column, part in zip((labels, counts, places, values), found):
            column.add(part)
        row += block.count(b"\n")
        widest = max(widest, int(found[2].max(initial=0)))
        asked = max(labels.size + values.size, labels.size * max(1, width or widest))
        if asked > cells:
            rule = f"must hold at most {cells} numbers, or as many as `cells` says"
            refuse(
                str(path), rule, f"{labels.size} samples and more, of {width or widest} features"
            )
    if not labels.size:
        refuse(str(path), "must hold one sample or more", "none")
    if width is not None and widest > width:
        refuse("features", f"must be at least {widest}, which {path} has", width)
    arguments.check_fits(str(path), labels.size, width or widest)
    X = np.zeros((labels.size, max(1, width or widest)))
    # the rows of a block of samples at a time: their numbers are as many as the pairs
    counts, places, values, begun = counts.whole(), places.whole(), values.whole(), 0
    for n in range(0, len(X), _files.BLOCK):
        each = counts[n : n + _files.BLOCK]
        end = begun + int(each.sum())
        X[n + np.repeat(np.arange(len(each)), each), places[begun:end] - 1] = values[begun:end]
        begun = end
    return X, _files.number_labels(labels.whole())


END, BLANK, COLON = 10, 32, 58  # signs, as bytes
PLACE = 9  # digits of a feature's number


def _parse_pairs(block: bytes) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray] | None:
    """Return (labels, number of pairs per line, features, values) of whole lines; None where a line
    is malformed."""
    if b"#" in block:
        block = COMMENT.sub(b"", block)
    signs = np.frombuffer(b"\n" + block.translate(BLANKS), np.uint8)
    inside = signs > BLANK
    inside &= signs != COLON
    begins = np.flatnonzero(inside[1:] & ~inside[:-1]) + 1
    ends = np.flatnonzero(~inside[1:] & inside[:-1]) + 1  # the sign behind
    colons, after = int(np.count_nonzero(signs == COLON)), signs[ends]
    if not len(begins):
        return None if colons else (np.empty(0),) * 2 + (np.empty(0, np.int32), np.empty(0))
    is_value, is_place = signs[begins - 1] == COLON, after == COLON
    line = np.cumsum(signs == END, dtype=np.int32)[begins]
    is_label = np.concatenate([[True], line[1:] != line[:-1]])
    # a colon stands between a feature and a value; whoever is neither is a label
    good = np.array_equal(is_place[:-1], is_value[1:]) and not np.any(is_place & is_value)
    good = good and not is_value[0] and not is_place[-1]
    if (
        not good
        or colons != int(is_value.sum())
        or not np.array_equal(is_label, ~is_value & ~is_place)
    ):
        return None
    digits = (signs >= 48) & (signs <= 57)
    odd = np.concatenate([[0], np.cumsum(inside & ~digits, dtype=np.int32)])
    if np.any((odd[ends] - odd[begins])[is_place]) or np.any((ends - begins)[is_place] > PLACE):
        return None
    try:
        text = block.translate(PARTED).decode("ascii")
        numbers = np.loadtxt(io.StringIO(text), comments=None, ndmin=1)
    except ValueError:
        return None
    if len(numbers) != len(begins) or not np.isfinite(numbers).all():
        return None
    features, first = numbers[is_place], np.flatnonzero(is_label)
    counts = (np.diff(np.append(first, len(numbers))) - 1) // 2
    of = np.repeat(np.arange(len(first)), counts)
    upwards = (features[1:] > features[:-1]) | (of[1:] != of[:-1])
    if not upwards.all() or np.any((features < 1) | (features > FEATURES)):
        return None
    return numbers[is_label], counts, features.astype(np.int32), numbers[is_value]


def _refuse_row(path: Path, block: bytes, row: int) -> None:
    """Raise an error that explains the first malformed line."""
    for n, text in enumerate(block.split(b"\n"), row):
        if _parse_pairs(text + b"\n") is not None:
            continue
        parts = text.partition(b"#")[0].split()
        try:
            pairs = [part.split(b":") for part in parts[1:]]
            numbers = [float(parts[0]), *(float(value) for _, value in pairs)]
            _ = [int(place) for place, _ in pairs]
        except ValueError:
            refuse(f"{path}: row {n}", "must be a label and pairs feature:value", text[:200])
        if not np.all(np.isfinite(numbers)):
            refuse(f"{path}: row {n}", "must hold finite numbers", text[:200])
        rule = f"must number features upwards in 1 .. {FEATURES}, by digits"
        refuse(f"{path}: row {n}", rule, text[:200])
    refuse(f"{path}: rows from {row} on", "must be labels and pairs feature:value", block[:200])
