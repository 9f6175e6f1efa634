"""Models of instances: what can happen and be measured exactly, so that a claim about it can be
searched and decided.

A model (a record `Model`) is one file. It draws shapes (small integers), names the coordinates in
which instances of a shape vary, and builds an instance from coordinates. An instance is plain data,
which a certificate holds unchanged. From the instance alone, by definition and without the engine,
the model derives the constants and measured quantities that claims refer to.

The folders are named by the letters of their models: `fsl`, `mixed`, `flex` and `lamb` have the
letters of one paper each, `general` those of the neutral table. The other modules are shared:
losses with their minima and distances, families from which losses are drawn, fields of instances. A
model never judges a claim: searching and deciding are done elsewhere, with nothing but the record.
"""

# ruff: noqa: F401 - the package's own names, which other packages import from here
from fedtheory.models.matching import conditions, fitting, methods, reads, strangers, tacit
from fedtheory.models.record import Model, Setting, beside, kernels, names
from fedtheory.models.registry import GENERAL, HOUSE, all_models, by_name, entry_names, homes
