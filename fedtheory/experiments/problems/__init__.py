"""The package of objectives of networks, one per file; users reach them as `ft.problems.mlp` and
`ft.problems.network`."""

from fedtheory.experiments.problems import mlp as _mlp
from fedtheory.experiments.problems import network as _network_module

MODULES = {"mlp": _mlp, "network": _network_module}
MAKERS = {maker.__name__: maker for module in MODULES.values() for maker in module.MAKERS}
globals().update(MAKERS)
