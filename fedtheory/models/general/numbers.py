"""Numbers alone, for claims that measure nothing: every parameter is free within its domain and the
hypotheses."""

from fedtheory.language.symbol import Table
from fedtheory.models import Model
from fedtheory.models.fields import Fields

MODEL = Model(
    name="numbers",
    says="numbers alone",
    measures=frozenset(),
    shapes=lambda random, relaxed: {},
    constants=lambda instance: {},
    measure=lambda instance, values, wanted: {},
    table=Table("numbers"),
    kind="exact",
    **Fields().record(),
)
