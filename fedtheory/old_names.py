"""Old names of modules that users' files import: each is the module that has a new name."""

import importlib
import importlib.abc
import importlib.util
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType

NEW = {
    "fedtheory.settings": "fedtheory.models",
    "fedtheory.own": "fedtheory.user_quantities",
    "fedtheory.enclosure.arithmetic": "fedtheory.arithmetic.operations",
    "fedtheory.enclosure": "fedtheory.arithmetic",
}


def new_name(name: str) -> str | None:
    """Return the new name of a module that had another one; None for any other module.

    >>> new_name("fedtheory.settings.losses"), new_name("fedtheory.claim")
    ('fedtheory.models.losses', None)
    """
    old = next((old for old in NEW if name == old or name.startswith(f"{old}.")), None)
    return None if old is None else NEW[old] + name.removeprefix(old)


class OldNames(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Find a module under its old name, as the same object that it is under its new one."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        new = new_name(fullname)
        if new is None or importlib.util.find_spec(new) is None:
            return None
        return importlib.util.spec_from_loader(fullname, self)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return importlib.import_module(str(new_name(spec.name)))

    def exec_module(self, module: ModuleType) -> None:
        """Do nothing: the module was run under its new name."""


def accept_old_names() -> None:
    """Let import statements use old names, once for a process."""
    if not any(isinstance(finder, OldNames) for finder in sys.meta_path):
        # First: what an earlier version left in a folder, caches alone, would be found as a package.
        sys.meta_path.insert(0, OldNames())
