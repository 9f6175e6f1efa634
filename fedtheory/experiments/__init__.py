"""The papers' experiments as records, one file each, and the pool of runs that their figures share.

>>> from fedtheory import experiments
>>> experiments.experiment("fsl_scenario1").printed["T"]
1000
"""

import importlib
import pkgutil
from functools import cache

from fedtheory.errors import refuse
from fedtheory.experiments import records
from fedtheory.experiments._record import SCALES, Experiment

__all__ = ["SCALES", "Experiment", "experiment", "experiments"]


@cache
def experiments() -> dict[str, Experiment]:
    """Return name -> Experiment for all files of records/."""
    names = sorted(name for _, name, _ in pkgutil.iter_modules(records.__path__) if name[0] != "_")
    modules = {n: importlib.import_module(f"fedtheory.experiments.records.{n}") for n in names}
    return {name: module.EXPERIMENT for name, module in modules.items()}


def experiment(name: str) -> Experiment:
    """Return the Experiment with this name; any other name is refused."""
    if not isinstance(name, str) or name not in experiments():
        refuse("experiment", f"must be one of {', '.join(experiments())}", name)
    return experiments()[name]
