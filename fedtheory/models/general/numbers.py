"""Numbers alone, for claims that measure nothing: every parameter is free within its domain and the
hypotheses."""

from fedtheory.language.symbol import Table
from fedtheory.models import Setting
from fedtheory.schema import entries

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
