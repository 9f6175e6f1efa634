"""fedtheory puts the theory of federated optimisation to the test."""

import os as _os
import sys as _sys
from collections.abc import Callable
from types import ModuleType as _ModuleType
from typing import TYPE_CHECKING, Any

from fedtheory.folders_beside import find_folders_beside as _find_folders_beside
from fedtheory.old_names import accept_old_names as _accept_old_names

if TYPE_CHECKING:  # what _LAZY imports on first use, for checkers of types and editors
    from fedtheory import errors as errors
    from fedtheory import metrics as metrics
    from fedtheory import participation as participation
    from fedtheory import problems as problems
    from fedtheory.app.explain import explain as explain
    from fedtheory.comparison.compare import compare as compare
    from fedtheory.comparison.plotting import plot as plot
    from fedtheory.discover import algorithm as algorithm
    from fedtheory.discover import claim as claim
    from fedtheory.exact.expected import expected as expected
    from fedtheory.experiments import data as data
    from fedtheory.experiments import layers as layers
    from fedtheory.experiments import networks as networks
    from fedtheory.rocq.export_file import export as export
    from fedtheory.runs.running import Run as Run
    from fedtheory.runs.running import pretrain as pretrain
    from fedtheory.runs.running import run as run
    from fedtheory.search import strategies as strategies
    from fedtheory.verdicts.audit import audit as audit
    from fedtheory.verdicts.minimal_hypotheses import minimise as minimise
    from fedtheory.verdicts.mutation_testing import mutate as mutate
    from fedtheory.verdicts.pipeline import check as check
    from fedtheory.verdicts.replaying import replay as replay
    from fedtheory.verdicts.sampled_check import check_on as check_on
    from fedtheory.verdicts.sharpening import sharpen as sharpen

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


if not TYPE_CHECKING:  # by its name alone, a checker of types would take any name for known

    def __getattr__(name: str) -> _ModuleType | Callable[..., Any]:
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
