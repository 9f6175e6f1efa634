"""One objective per file; the functions in a file's `MAKERS` are what users call: `ft.problems.quadratic(...)`."""

import importlib
import pkgutil
from functools import cache


def modules():
    """Every file of this folder, in order."""
    names = sorted(name for _, name, _ in pkgutil.iter_modules(__path__) if not name.startswith("_"))
    return {name: importlib.import_module(f"{__name__}.{name}") for name in names}


@cache
def makers():
    """name -> function that makes a problem."""
    return {maker.__name__: maker for module in modules().values() for maker in getattr(module, "MAKERS", ())}


def __getattr__(name):
    if name.startswith("_") or name not in makers():
        raise AttributeError(f"no problem {name}; there are {', '.join(makers())}")
    return makers()[name]


def __dir__():
    return sorted([*globals(), *makers()])
