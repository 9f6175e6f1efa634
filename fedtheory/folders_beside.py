"""Import of `fedtheory.figures` and `fedtheory.verify`, whose folders lie beside `fedtheory/` in a
clone, and within it where a wheel is installed.

The finder is the same in both places, so that neither links nor an installation are needed, and a
clone on `PYTHONPATH` imports its own folders whatever copy is installed.
"""

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType

PACKAGE = Path(__file__).resolve().parent
BESIDE = ("figures", "verify")


def folder_of(name: str) -> Path:
    """Return the folder of a package that BESIDE names.

    >>> folder_of("figures").name
    'figures'
    """
    inside = PACKAGE / name
    # A folder without sources holds caches that an earlier version left.
    return inside if (inside / "__init__.py").is_file() else PACKAGE.parent / name


class FolderFinder(MetaPathFinder):
    """An import finder that finds the packages of BESIDE in their folders."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        package, _, name = fullname.partition(".")
        if package != "fedtheory" or name not in BESIDE:
            return None
        return PathFinder.find_spec(fullname, [str(folder_of(name).parent)], target)


def find_folders_beside() -> None:
    """Make import statements find the folders; further calls in the same process change nothing."""
    if not any(isinstance(finder, FolderFinder) for finder in sys.meta_path):
        # First in the list: an editable installation of another clone has a finder of its own.
        sys.meta_path.insert(0, FolderFinder())
