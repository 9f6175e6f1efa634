"""LIBSVM: a label and `feature:value` pairs, numbered from 1, a line for each sample."""

import numpy as np

from fedtheory import arguments
from fedtheory.data import _files
from fedtheory.errors import refuse

MOST, FEATURES = 2**28, 2**20


def read(path, features=None):
    """(X (n, features), y (n,)) of a file; labels are numbered in their order, from 0."""
    samples, widest = [], 0
    for n, row in enumerate(_files.content(path, MOST).splitlines(), 1):
        parts = row.partition(b"#")[0].split()
        if not parts:
            continue
        try:
            pairs = [part.split(b":") for part in parts[1:]]
            places = [int(place) for place, _ in pairs]
            values = [float(value) for _, value in pairs]
            label = float(parts[0])
        except ValueError:
            refuse(f"{path}: row {n}", "must be a label and pairs feature:value", row)
        if not np.all(np.isfinite([label, *values])):
            refuse(f"{path}: row {n}", "must hold finite numbers", row)
        if places and (min(places) < 1 or max(places) > FEATURES or places != sorted({*places})):
            refuse(f"{path}: row {n}", f"must number features upwards in 1 .. {FEATURES}", row)
        widest = max(widest, places[-1] if places else 0)
        samples.append((label, places, values))
    if not samples:
        refuse(str(path), "must hold one sample or more", "none")
    width = widest if features is None else arguments.whole("features", features, 1)
    if widest > width:
        refuse("features", f"must be at least {widest}, which {path} has", width)
    arguments.fits(str(path), len(samples), width)
    X = np.zeros((len(samples), max(1, width)))
    for row, (_, places, values) in enumerate(samples):
        X[row, np.array(places, np.int64) - 1] = values
    y = np.unique([label for label, _, _ in samples], return_inverse=True)[1]
    return X, y.astype(np.int64)
