"""fedtheory puts the theory of federated optimisation to the test."""

import os as _os
import sys as _sys
from collections.abc import Callable
from types import ModuleType as _ModuleType
from typing import TYPE_CHECKING, Any

from fedtheory.folders_beside import find_folders_beside as _find_folders_beside
from fedtheory.old_names import accept_old_names as _accept_old_names

if TYPE_CHECKING:
    from fedtheory.runs.result import Run

# Two OpenBLAS copies with two threads each thrash on small matrices; the engine has its own
# threads.
_os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
_os.environ.setdefault("OMP_WAIT_POLICY", "passive")

_find_folders_beside()
_accept_old_names()

__version__ = "0.1.0"

# name -> (module, attribute); each is imported on first use, so that `import fedtheory` is quick.
_LAZY = {
    "run": ("fedtheory.runs.running", "run"),
    "pretrain": ("fedtheory.runs.running", "pretrain"),
    "Run": ("fedtheory.runs.running", "Run"),
    "expected": ("fedtheory.exact.expected", "expected"),
    "check": ("fedtheory.verdicts.pipeline", "check"),
    "mutate": ("fedtheory.verdicts.mutation_testing", "mutate"),
    "sharpen": ("fedtheory.verdicts.sharpening", "sharpen"),
    "audit": ("fedtheory.verdicts.audit", "audit"),
    "strategies": ("fedtheory.search.strategies", None),
    "minimise": ("fedtheory.verdicts.minimal_hypotheses", "minimise"),
    "compare": ("fedtheory.comparison.compare", "compare"),
    "plot": ("fedtheory.comparison.plotting", "plot"),
    "check_on": ("fedtheory.verdicts.sampled_check", "check_on"),
    "replay": ("fedtheory.verdicts.replaying", "replay"),
    "export": ("fedtheory.rocq.export_file", "export"),
    "metrics": ("fedtheory.metrics", None),
    "algorithm": ("fedtheory.discover", "algorithm"),
    "claim": ("fedtheory.discover", "claim"),
    "explain": ("fedtheory.app.explain", "explain"),
    "problems": ("fedtheory.problems", None),
    "data": ("fedtheory.experiments.data", None),
    "layers": ("fedtheory.experiments.layers", None),
    "networks": ("fedtheory.experiments.networks", None),
    "participation": ("fedtheory.participation", None),
    "errors": ("fedtheory.errors", None),
}
__all__ = ["algorithms", *_LAZY]


def algorithms() -> list[str]:
    """Return the names of all algorithms, in alphabetical order.

    >>> import fedtheory as ft
    >>> {"fedavg", "scaffold", "fsl"} <= {*ft.algorithms()}
    True
    """
    from fedtheory import discover

    return sorted(discover.algorithms())


def __getattr__(name: str) -> "_ModuleType | Callable[..., Any] | type[Run]":
    if name not in _LAZY:
        raise AttributeError(f"module 'fedtheory' has no attribute {name!r}")
    import importlib

    module, attribute = _LAZY[name]
    value = importlib.import_module(module)
    value = value if attribute is None else getattr(value, attribute)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_LAZY])


class _Face(_ModuleType):
    """The class of the package module: `ft.claim` and `ft.algorithms` stay functions when the
    submodules of the same names are imported."""

    def __setattr__(self, name: str, value: _ModuleType) -> None:
        if not (
            isinstance(value, _ModuleType)
            and (name == "algorithms" or _LAZY.get(name, (None, None))[1])
        ):
            super().__setattr__(name, value)


_sys.modules[__name__].__class__ = _Face
