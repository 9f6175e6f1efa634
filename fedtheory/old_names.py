"""Import of modules under their old names, which users' files may use: an old name gives the module
that has the new name."""

import importlib
import importlib.abc
import importlib.util
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType

NEW = {
    "fedtheory.data": "fedtheory.experiments.data",
    "fedtheory.layers": "fedtheory.experiments.layers",
    "fedtheory.networks": "fedtheory.experiments.networks",
    "fedtheory.network": "fedtheory.experiments.network",
    "fedtheory.paper": "fedtheory.language.paper",
    "fedtheory.printing": "fedtheory.language.printing",
    "fedtheory.statements": "fedtheory.language.statements",
    "fedtheory.user_quantities": "fedtheory.language.user_quantities",
    "fedtheory.textbook": "fedtheory.proofs.textbook",
    "fedtheory.worstcase": "fedtheory.proofs.worstcase",
    "fedtheory.settings": "fedtheory.models",
    "fedtheory.own": "fedtheory.language.user_quantities",
    "fedtheory.enclosure.arithmetic": "fedtheory.arithmetic.operations",
    "fedtheory.enclosure": "fedtheory.arithmetic",
}


def new_name(name: str) -> str | None:
    """Return the new name of a module that was renamed; None for any other module.

    >>> new_name("fedtheory.settings.losses"), new_name("fedtheory.claim")
    ('fedtheory.models.losses', None)
    """
    old = next((old for old in NEW if name == old or name.startswith(f"{old}.")), None)
    return None if old is None else NEW[old] + name.removeprefix(old)


class OldNames(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """An import finder that returns a renamed module under its old name, as the same object as
    under its new name."""

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
        """Do nothing, because the module was executed under its new name."""


def accept_old_names() -> None:
    """Make import statements accept old names; further calls in the same process change nothing."""
    if not any(isinstance(finder, OldNames) for finder in sys.meta_path):
        # First in the list: otherwise a folder of an earlier version that holds only caches would
        # be found as a package.
        sys.meta_path.insert(0, OldNames())
