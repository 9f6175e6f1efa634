"""Parts of figures that take long: each worked out once, kept, and shared by all figures that ask for
it, so that a figure that was killed goes on with the part at which it was killed.

A part is a function of a figure's file at plain arguments. It is kept under these and all that the
function reaches: a changed label leaves it alone, a changed experiment works it out anew.
"""

import numpy as np

from fedtheory.experiments import _kept
from fedtheory.experiments._samples import request_text
from fedtheory.store import source_hash

FOLDER = "parts"


def part_name(function, arguments):
    """Hex name of a part."""
    home = source_hash.home_file(function)
    reached = source_hash.part_digest(home, function.__name__)
    return _kept.name(home.stem, function.__name__, request_text(list(arguments)), reached)


def compute_part(function, *arguments):
    """function(*arguments), a dictionary of arrays, worked out once."""
    work = lambda: {label: np.asarray(value) for label, value in function(*arguments).items()}
    return _kept.one(FOLDER, part_name(function, arguments), work)
