"""The package of the papers' networks, one per file; users name the records in a file's `NETWORKS`.

>>> import fedtheory as ft
>>> ft.networks["mnist_mlp"].shape, ft.networks["mnist_mlp"].twin
((784,), 'mnist_mlp_twin')
"""

import importlib
import pkgutil
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fedtheory.experiments.network import Network

MODULES = {
    name: importlib.import_module(f"{__name__}.{name}")
    for name in sorted(
        name for _, name, _ in pkgutil.iter_modules(__path__) if not name.startswith("_")
    )
}
NETWORKS = {network.name: network for module in MODULES.values() for network in module.NETWORKS}


class _Listing(ModuleType):
    """The type of the module `ft.networks`, which makes the module a mapping from names to
    networks."""

    def __iter__(self) -> Iterator[Any]:
        return iter(NETWORKS)

    def __len__(self) -> int:
        return len(NETWORKS)

    def __contains__(self, name: str) -> bool:
        return name in NETWORKS

    def __getitem__(self, name: str) -> "Network":
        return NETWORKS[name]

    def keys(self) -> Any:
        return NETWORKS.keys()


sys.modules[__name__].__class__ = _Listing
