"""Partitions of samples among clients, as functions of labels, one per file, and the server's
samples.

Each returns a Split (server sets: rows). All draws are named, and fixed by the seed.

>>> import fedtheory as ft
>>> split = ft.data.partition.classes([0, 1, 2, 3] * 5, clients=4, C=2, seed=1)
>>> split.statistics()["size"]
5.0
"""

import importlib
import pkgutil

from fedtheory.experiments.data.partition._split import Split

__all__ = ["Split"]
for _name in sorted(name for _, name, _ in pkgutil.iter_modules(__path__) if name[0] != "_"):
    globals()[_name] = getattr(importlib.import_module(f"{__name__}.{_name}"), _name)
    __all__.append(_name)
