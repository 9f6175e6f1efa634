"""Schemas of the instances in certificates by the names of models, as the stand-alone checker
contains them, and the schema of two runs, which no model has.

The models are imported where a schema is asked for: a package that is there already is shown without
SymPy."""

from typing import Any

from fedtheory.schema import entries, integer, length_plus, list_of

RUNS = "two runs"
POINT = list_of("number", "d")
TWO_RUNS = entries(
    dict(
        A=list_of(POINT, length_plus("N", 1)),
        b=list_of(POINT, length_plus("N", 1)),
        weights=list_of("positive", "N", total=None),
        sigma="nonnegative",
        x=POINT,
        S=integer(1, "N"),
        rounds=integer(),
        seed=integer(0),
        hyper=["named", "number"],
    )
)


def find_schema(name: Any) -> Any:
    """Return the schema of a model's instances, or of two runs; None where no schema has this
    name."""
    if name == RUNS:
        return TWO_RUNS
    from fedtheory.models import by_name
    from fedtheory.models.instances import schema_of

    setting = by_name(name)
    return None if setting is None else schema_of(setting)


def all_schemas(documents: Any = ()) -> dict:
    """Return {name: schema} of two runs, of all models of this library, and of the models that
    documents name."""
    from fedtheory.models import all_models

    names = {setting.name for setting in all_models() if not setting.source}
    waiting = list(documents)
    while waiting:
        document = waiting.pop()
        if isinstance(document, dict):
            names |= {name for name in [document.get("setting")] if isinstance(name, str)}
            waiting += [document.get("denial"), *(document.get("members") or ())]
    found = {name: find_schema(name) for name in (RUNS, *sorted(names))}
    return {name: schema for name, schema in found.items() if schema is not None}
