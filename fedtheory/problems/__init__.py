"""The package of objectives, one per file; users call the functions in a file's `MAKERS`:
`ft.problems.quadratic(...)`.

>>> import fedtheory as ft
>>> problem = ft.problems.quadratic(d=2, clients=3, L=2.0, mu=0.5, G=1.0)
>>> problem.constants["G"].value, problem.constants["G"].scope
(1.0, 'global')
"""

import importlib
import pkgutil

# Every file of this folder, in order.
MODULES = {
    name: importlib.import_module(f"{__name__}.{name}")
    for name in sorted(
        name for _, name, _ in pkgutil.iter_modules(__path__) if not name.startswith("_")
    )
}
# name -> function that makes a problem. A file may bear its maker's name: the maker is what users
# mean.
MAKERS = {
    maker.__name__: maker for module in MODULES.values() for maker in getattr(module, "MAKERS", ())
}
globals().update(MAKERS)
