"""scikit-learn's digits: 1797 real images of 8 x 8, without any download (extra `data`)."""

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np

from fedtheory.errors import InvalidInput
from fedtheory.experiments.data import _files
from fedtheory.experiments.data._data import Data
from fedtheory.experiments.data._files import File
from fedtheory.experiments.data._sets import Found, Set
from fedtheory.experiments.data.formats import arrays

FILE = File(
    ("digits.csv.gz",),
    None,
    "gz-sha256:09f66e6debdee2cd2b5ae59e0d6abbb73fc2b0e0185d2e1957e9ebb51e23aa22",
)
TEST = 5  # every fifth image is held out: writers follow each other in the file


def load(found: Found) -> Any:
    spec = importlib.util.find_spec("sklearn")  # read as a file: importing it takes a second
    if spec is None or spec.origin is None:
        raise InvalidInput(
            "data digits are part of scikit-learn, which is not installed: "
            'python -m pip install "fedtheory[data]"'
        )
    path = Path(spec.origin).parent / "datasets" / "data" / FILE.names[0]
    X, y = arrays.read_table(_files.check_published(path, FILE))
    images = X.reshape(-1, 8, 8) / 16.0
    held = np.arange(len(y)) % TEST == 0
    parts = {"X": images[~held], "y": y[~held], "X_test": images[held], "y_test": y[held]}
    return Data("digits", parts, 10)


SET = Set(
    "digits",
    "handwritten digits of scikit-learn, 1,437 + 360 of 8 x 8 (extra data)",
    load,
    package="sklearn",
)
