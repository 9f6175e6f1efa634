"""Theory against practice: one figure or table of a paper per file, computed, saved, and drawn from
what was saved.

`python -m figures` makes them all; `figures()` finds them as fedtheory.discover finds claims.
"""

import importlib
import pkgutil
from functools import cache

from fedtheory.errors import InvalidInput, show

SCALES = ("smoke", "quick", "paper")


def ids():
    """Names of all figures: those of the files of this folder."""
    return sorted(name for _, name, _ in pkgutil.iter_modules(__path__) if not name.startswith("_"))


def known(name):
    """An id that has a file; any other is refused."""
    if name not in ids():
        near = [
            other for other in ids() if isinstance(name, str) and name.partition("_")[0] in other
        ]
        raise InvalidInput(f"figure must be one of {', '.join(near or ids())}; got {show(name)}")
    return name


@cache
def figure(name):
    """The Figure of an id."""
    return importlib.import_module(f"figures.{known(name)}").FIGURE


def figures():
    """id -> Figure, over every file of figures/."""
    return {name: figure(name) for name in ids()}
