"""The record of a data set: the function that reads or generates the set, and, for a published set,
its source and the sizes of its files."""

import importlib.util
import os
import pkgutil
from collections.abc import Callable
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from fedtheory.errors import InvalidInput, refuse
from fedtheory.experiments.data import _files, sets

FOLDER = "FEDTHEORY_DATA"  # names the folder where none is handed in


class Set(NamedTuple):
    """A data set by name. `layouts` are the file layouts in which the set is published: part ->
    File; a set without layouts is generated here."""

    name: str
    meaning: str
    load: Callable[
        ..., Any
    ]  # (found, **options) -> Data; `found` says where the files of a layout are
    layouts: tuple[Any, ...] = ()
    published: str = ""
    megabytes: float = 0.0  # of the download
    terms: str = ""
    package: str = ""  # that holds it, and must be installed


class Found(NamedTuple):
    """The files of one layout on this machine; `folder` is None where no folder was given."""

    layout: int = 0
    paths: dict[str, Any] = {}
    files: dict[str, Any] = {}
    folder: Path | None = None

    def __call__(self, part: str) -> Path:
        """Return the path of a part, after checking its file against the published length and
        digest."""
        return _files.check_published(self.paths[part], self.files[part])


@cache
def shipped_sets() -> dict[str, Set]:
    """Return name -> Set for all files of sets/."""
    names = sorted(name for _, name, _ in pkgutil.iter_modules(sets.__path__) if name[0] != "_")
    found = [
        importlib.import_module(f"fedtheory.experiments.data.sets.{name}").SET for name in names
    ]
    return {each.name: each for each in found}


def find_set(name: str) -> Set:
    """Return the Set with this name; any other name is refused."""
    if not isinstance(name, str) or name not in shipped_sets():
        near = get_close_matches(name, shipped_sets(), 3, 0.5) if isinstance(name, str) else []
        refuse("data", f"must be one of {', '.join(near or shipped_sets())}", name)
    return shipped_sets()[name]


def folder_of(given: Any = None) -> Path | None:
    """Return the given folder, or the folder that FEDTHEORY_DATA names, or None."""
    given = given if given is not None else os.environ.get(FOLDER) or None
    if given is None:
        return None
    try:
        place = Path(given)
    except TypeError:
        refuse("folder", "must be the path of a folder", given)
    if not place.is_dir():
        refuse("folder", "must be a folder that exists", str(given))
    return place


def locate_set(record: Set, folder: Path) -> tuple[Any, ...]:
    """Return the Found of a set, or None, and the missing files in words, for the layout with the
    fewest missing files.

    A folder within that is called after the set is looked into first: MNIST and Fashion-MNIST name
    their files alike.
    """
    fewest = None
    called = (record.name, record.name.replace("_", "-"), record.name.upper())
    folder = next((folder / name for name in called if (folder / name).is_dir()), folder)
    for n, layout in enumerate(record.layouts):
        paths = {part: _files.find_file(folder, file.names) for part, file in layout.items()}
        missing = [layout[part].names[0] for part, path in paths.items() if path is None]
        if not missing:
            return Found(n, paths, layout, folder), []
        if fewest is None or len(missing) < len(fewest):
            fewest = missing
    return None, fewest


def load(name: str, folder: bytes | Path | None = None, **options: float) -> Any:
    """Load a data set: read from the files of a folder and checked against the published ones, or
    generated here (digits, and the stand-ins). `options` are the set's own; FEDTHEORY_DATA names
    the folder of published files if `folder` is None, and generated sets depend on the arguments
    alone.

    >>> import fedtheory as ft
    >>> data = ft.data.load("handwriting", writers=3, each=1, classes=10, seed=0)
    >>> data.X.shape, data.classes
    ((30, 28, 28), 10)
    """
    record = find_set(name)
    if not record.layouts:
        own = None if folder is None else folder_of(folder)
        return record.load(Found(folder=own), **options)
    place = folder_of(folder)
    if place is None:
        raise InvalidInput(
            f"data {name} needs the folder of the set's files: pass the folder, or set {FOLDER}; "
            f"`fedtheory data {name}` says where the files are published"
        )
    found, missing = locate_set(record, place)
    if found is None:
        raise InvalidInput(
            f"data {name} is incomplete in {place}: {', '.join(missing)} missing; "
            f"the set is published at {record.published} ({record.megabytes:g} MB)"
        )
    return record.load(found, **options)


def set_state(record: Set, folder: Path | None) -> tuple[bool, str]:
    """Return whether a set can be loaded now, and the reason in words."""
    if record.package and importlib.util.find_spec(record.package) is None:
        return False, f"the package {record.package} is not installed (extra data)"
    if not record.layouts:
        return True, f"in the package {record.package}" if record.package else "made here"
    if folder is None:
        return False, "no folder is named"
    found, missing = locate_set(record, folder)
    if found is None:
        return False, f"missing: {', '.join(missing)}"
    try:
        for part in found.paths:
            found(part)
    except InvalidInput as error:
        return False, str(error)
    return True, "there, as published"
