"""The package of objectives, one per file; users call the functions in a file's `MAKERS`:
`ft.problems.quadratic(...)`.

>>> import fedtheory as ft
>>> problem = ft.problems.quadratic(d=2, clients=3, L=2.0, mu=0.5, G=1.0)
>>> problem.constants["G"].value, problem.constants["G"].scope
(1.0, 'global')
"""

import importlib
import importlib.util
import pkgutil
from collections.abc import Callable
from types import ModuleType

from fedtheory.problem import Problem

# Every file of this folder, in order.
MODULES = {
    name: importlib.import_module(f"{__name__}.{name}")
    for name in sorted(
        name for _, name, _ in pkgutil.iter_modules(__path__) if not name.startswith("_")
    )
}
# name -> function that makes a problem. A file may bear its maker's name: the maker is what users
# mean.
MAKERS = {
    maker.__name__: maker for module in MODULES.values() for maker in getattr(module, "MAKERS", ())
}
globals().update(MAKERS)
# Objectives of networks lie with the papers' experiments, so that theory never imports them.
NETWORKS = "fedtheory.experiments.problems"


def __getattr__(name: str) -> Callable[..., Problem]:
    """Return the maker of a network's objective; its package is imported when it is first used."""
    if name.startswith("_") or importlib.util.find_spec(f"{NETWORKS}.{name}") is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return importlib.import_module(NETWORKS).MAKERS[name]


def all_makers() -> dict[str, Callable[..., Problem]]:
    """Return name -> function that makes a problem, networks included."""
    return {**MAKERS, **importlib.import_module(NETWORKS).MAKERS}


def all_modules() -> dict[str, ModuleType]:
    """Return name -> module of objectives, networks included, in alphabetical order."""
    return dict(sorted({**MODULES, **importlib.import_module(NETWORKS).MODULES}.items()))
