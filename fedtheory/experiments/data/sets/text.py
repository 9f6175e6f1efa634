"""A user's own text files: each file is a source, cut into windows of 40 character indices."""

from typing import Any

import numpy as np

from fedtheory import arguments
from fedtheory.errors import refuse
from fedtheory.experiments.data._data import Data
from fedtheory.experiments.data._sets import Found, Set
from fedtheory.experiments.data.formats import text

MOST = 10**5  # files


def load(found: Found, length: int = 40) -> Any:
    """Read X (n, length): characters; y (n, length): the characters that follow. A writer is a
    file, identified by its name."""
    length = arguments.check_integer("length", length, 1)
    files = [] if found.folder is None else sorted(found.folder.glob("*.txt"))
    if not files or len(files) > MOST:
        refuse("folder", f"must hold from 1 to {MOST} files .txt", f"{len(files)}")
    cut = [text.text_windows(text.read_text(file), length) for file in files]
    writers = np.repeat(np.arange(len(files)), [len(X) for X, _ in cut])
    X, y = (np.concatenate(parts) for parts in zip(*cut))
    return Data("text", {"X": X, "y": y, "writers": writers}, len(text.ALPHABET))


SET = Set("text", "the .txt files of a folder, a source each, as windows of signs", load)
