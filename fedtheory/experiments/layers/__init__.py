"""The package of network layers, one per file; users call the functions in a file's `MAKERS`.

>>> import fedtheory as ft
>>> [ft.layers.dense(200), ft.layers.relu(), ft.layers.dropout(0.5), ft.layers.dense(10)]
[dense, relu, dropout, dense]
"""

import importlib
import pkgutil

MODULES = {
    name: importlib.import_module(f"{__name__}.{name}")
    for name in sorted(
        name for _, name, _ in pkgutil.iter_modules(__path__) if not name.startswith("_")
    )
}
# A file bears its maker's name: the maker is what users mean.
MAKERS = {
    maker.__name__: maker for module in MODULES.values() for maker in getattr(module, "MAKERS", ())
}
globals().update(MAKERS)
