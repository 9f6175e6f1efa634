"""Figures and tables that compare theory with practice: each file computes one figure or table of a
paper, saves its arrays, and draws from the saved arrays.

`python -m figures` makes them all; `figures()` finds them as fedtheory.discover finds claims.
"""

import importlib
import pkgutil
from functools import cache
from pathlib import Path
from typing import Any

from fedtheory import plugins
from fedtheory.errors import InvalidInput, refuse, show
from fedtheory.figures._record import Figure

SCALES = ("smoke", "quick", "paper")


def figure_ids() -> list[str]:
    """Return the sorted ids of all figures: the files of this folder and the users' own figures."""
    return sorted({*_shipped_figures(), *user_figures()})


@cache
def _shipped_figures() -> list[str]:
    return [name for _, name, _ in pkgutil.iter_modules(__path__) if not name.startswith("_")]


def user_figures() -> dict[str, Any]:
    """Return {id: (File, Figure)} of the users' figures: a FIGURE has its file's name as id,
    FIGURES states the ids."""
    found = {}
    for file in plugins.list_files():
        plugins.several_of(file, "FIGURES")
        several = {**getattr(file.module, "FIGURES", {})}
        if hasattr(file.module, "FIGURE"):
            several[Path(file.path).stem] = file.module.FIGURE
        for name, record in several.items():
            if (
                not isinstance(name, str)
                or name in found
                or name in _shipped_figures()
                or not isinstance(record, Figure)
            ):
                refuse(f"{file.path}: FIGURE", "must be a Figure of a name that no other has", name)
            found[name] = file, record
    return found


def check_id(name: str) -> str:
    """Return the id of a figure that exists; refuse any other name."""
    if name not in figure_ids():
        near = [
            other
            for other in figure_ids()
            if isinstance(name, str) and name.partition("_")[0] in other
        ]
        raise InvalidInput(
            f"figure must be one of {', '.join(near or figure_ids())}; got {show(name)}"
        )
    return name


def figure(name: str) -> Figure:
    """Return the Figure record of an id."""
    if check_id(name) in user_figures():
        return user_figures()[name][1]
    return importlib.import_module(f"fedtheory.figures.{name}").FIGURE


def figures() -> dict[str, Figure]:
    """Return {id: Figure} for every file of figures/ and for the users' own figures."""
    return {name: figure(name) for name in figure_ids()}
