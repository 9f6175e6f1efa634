"""The models that there are: those of this package's folders, those in users' files, and those that
are built from the records of methods."""

import importlib
import pkgutil
from functools import cache

from fedtheory import discover, plugins
from fedtheory.errors import InvalidInput, refuse
from fedtheory.models.record import Model

PACKAGE = __name__.rpartition(".")[0]
HOUSE = "house"  # the neutral table, which belongs to no paper and serves every method
GENERAL = "general"  # the folder of models in the letters of the neutral table


def homes():
    """Return [(Model, name of its module)] of all models. The shipped models come first, by paper
    and then by file name; the models in users' files follow."""
    return _homes(plugins.list_files())


@cache
def _homes(files):
    own = [
        _check_model(file, record)
        for f in files
        for file, record in plugins.list_records("SETTING", f)
    ]
    names = [setting.name for setting, _ in (*_shipped_models(), *own)]
    for setting, _ in own:
        if names.count(setting.name) > 1 or setting.name.startswith("run_"):
            refuse(
                "SETTING",
                "must have a name that no other has and that does not begin with run_",
                setting.name,
            )
    return (*_shipped_models(), *own)


def _check_model(file, record):
    if not isinstance(record, Model):
        refuse("SETTING", "must be a fedtheory Model", record)
    return record._replace(source=file.source), file.module.__name__


@cache
def _shipped_models():
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
            several = getattr(module, "SETTINGS", ()) or [getattr(module, "SETTING", None)]
            found += [(setting, module.__name__) for setting in several if setting is not None]
    return tuple(found)


def all_settings():
    """Return all models: the records Model of the folders of this package and of users' files."""
    return list_settings(plugins.list_files())


@cache
def list_settings(files):
    return tuple(setting for setting, _ in _homes(files))


def entry_names(setting):
    """Return {entry of a model's instances: the words for that entry}, as the model's file or else
    its folder defines them in CALLED. For losses the words name the first losses, which precede the
    clients' losses."""
    homes_ = {other.name: home for other, home in homes()}
    # other names are models of any method
    home = homes_.get(setting.name, f"{PACKAGE}.{GENERAL}.run")
    own = importlib.import_module(home) if home.startswith(PACKAGE) else None
    folder = importlib.import_module(home.rpartition(".")[0]) if own else None
    return getattr(own, "CALLED", None) or getattr(folder, "CALLED", {})


def by_name(name):
    """Return the model with a name, or None where there is none."""
    from fedtheory.models.general import own

    if isinstance(name, str) and own.MARK in name:
        return own.by_name(name, by_name)
    found = next((setting for setting in all_settings() if setting.name == name), None)
    if found is None and isinstance(name, str) and name.startswith("run_"):
        from fedtheory.models.general import run_methods

        try:
            found = run_methods.setting_of(discover.algorithm(name.removeprefix("run_")))
        except InvalidInput:
            return None
    return found
