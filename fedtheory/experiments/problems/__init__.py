"""The package of objectives of networks, one per file; users reach them as `ft.problems.mlp` and
`ft.problems.network`."""

import importlib
import pkgutil

# Every file of this folder, in order.
MODULES = {
    name: importlib.import_module(f"{__name__}.{name}")
    for name in sorted(
        name for _, name, _ in pkgutil.iter_modules(__path__) if not name.startswith("_")
    )
}
# A file bears its maker's name: the maker is what users mean.
MAKERS = {maker.__name__: maker for module in MODULES.values() for maker in module.MAKERS}
globals().update(MAKERS)
