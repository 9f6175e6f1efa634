"""Numbers alone, for claims that measure nothing: every parameter is free within its domain and the
hypotheses."""

from fedtheory.models import Setting
from fedtheory.schema import entries
from fedtheory.symbol import Table

SETTING = Setting(
    name="numbers",
    says="numbers alone",
    measures=frozenset(),
    algorithms=(),
    gives=(),
    loose={},
    takes=(),
    shapes=lambda random, relaxed: {},
    coordinates=lambda shape: {},
    build=lambda shape, point: {},
    constants=lambda instance: {},
    measure=lambda instance, values, wanted: {},
    table=Table("numbers"),
    kind="exact",
    schema=entries({}),
)
