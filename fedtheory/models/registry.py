"""The models that there are: those of this package's folders, those in users' files, and those
that are built from the records of methods.

Shipped files are found by walking the folders, so that a new file needs no entry in a list; names
that begin with an underscore are no models. The order is fixed (papers, then the neutral table,
then users' files). Nothing here
decides whether a model fits a claim: `models.matching` does.
"""

import importlib
import pkgutil
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from fedtheory import discover, plugins
from fedtheory.errors import InvalidInput, refuse
from fedtheory.models.record import Model

PACKAGE = __name__.rpartition(".")[0]
HOUSE = "house"  # the neutral table, which belongs to no paper and serves every method
GENERAL = "general"  # the folder of models in the letters of the neutral table


def homes() -> tuple[tuple[Model, str], ...]:
    """Return [(Model, name of its module)] of all models. The shipped models come first, by paper
    and then by file name; the models in users' files follow."""
    return _homes(plugins.list_files())


def list_user_models(file: plugins.File) -> list[tuple[plugins.File, Any]]:
    """Return [(file, record)] of the models in a user's file: MODEL or MODELS, or SETTING as older
    files call them."""
    found = plugins.list_records("MODEL", file)
    known = [record for _, record in found]
    older = plugins.list_records("SETTING", file)
    return found + [(one, record) for one, record in older if all(record is not k for k in known)]


@cache
def _homes(files: Sequence[plugins.File]) -> tuple[tuple[Model, str], ...]:
    own = [_check_model(file, record) for f in files for file, record in list_user_models(f)]
    names = [model.name for model, _ in (*_shipped_models(), *own)]
    for model, _ in own:
        if names.count(model.name) > 1 or model.name.startswith("run_"):
            refuse(
                "MODEL",
                "must have a name that no other has and that does not begin with run_",
                model.name,
            )
    return (*_shipped_models(), *own)


def _check_model(file: Any, record: Any) -> Any:
    """Return (model with its file as source, name of its module); refuse a record of another
    class."""
    if not isinstance(record, Model):
        refuse("MODEL", "must be a fedtheory Model", record)
    return record._replace(source=file.source), file.module.__name__


@cache
def _shipped_models() -> Any:
    """Return the (Model, module) pairs of MODEL and MODELS in this package's folders, `general`
    last."""
    path = importlib.import_module(PACKAGE).__path__
    files = [
        module.split(".")
        for _, name, package in pkgutil.iter_modules(path)
        if package
        for _, module, _ in pkgutil.iter_modules([f"{path[0]}/{name}"], f"{name}.")
    ]
    found = []
    for folder, name in sorted(files, key=lambda each: (each[0] == GENERAL, each)):
        if not name.startswith("_"):
            module = importlib.import_module(f"{PACKAGE}.{folder}.{name}")
            several = getattr(module, "MODELS", ()) or [getattr(module, "MODEL", None)]
            found += [(model, module.__name__) for model in several if model is not None]
    return tuple(found)


def all_models() -> Any:
    """Return all models: the records Model of the folders of this package and of users' files."""
    return list_models(plugins.list_files())


@cache
def list_models(files: Mapping[str, bytes]) -> Any:
    """Return the models of the library and of the given users' files, in the order of `homes`."""
    return tuple(model for model, _ in _homes(files))


def entry_names(model: Any) -> Any:
    """Return {entry of a model's instances: the words for that entry}, as the model's file or else
    its folder defines them in CALLED. For losses the words name the first losses, which precede the
    clients' losses."""
    homes_ = {other.name: home for other, home in homes()}
    # other names are models of any method
    home = homes_.get(model.name, f"{PACKAGE}.{GENERAL}.run")
    own = importlib.import_module(home) if home.startswith(PACKAGE) else None
    folder = importlib.import_module(home.rpartition(".")[0]) if own else None
    return getattr(own, "CALLED", None) or getattr(folder, "CALLED", {})


def by_name(name: str) -> Model | None:
    """Return the model with a name, or None where there is none.

    A name with the mark of `general.own` is that of a model extended by a user's functions; a name
    run_X is that of the model built from the method X. Replay finds models in this way alone.
    """
    from fedtheory.models.general import own

    if isinstance(name, str) and own.MARK in name:
        return own.by_name(name, by_name)
    found = next((model for model in all_models() if model.name == name), None)
    if found is None and isinstance(name, str) and name.startswith("run_"):
        from fedtheory.models.general import run_methods

        try:
            found = run_methods.model_of(discover.algorithm(name.removeprefix("run_")))
        except InvalidInput:
            return None
    return found
