"""Instances as plain data in documents, and the schema that says which data are instances of a
model.

Code that receives an instance calls `fault_of` before it measures anything; instances that a search
builds are checked, too. A user's model without a schema gets the schema inferred from its own
instances.
"""

from collections.abc import Callable
from fractions import Fraction
from random import Random
from typing import Any

from fedtheory.arithmetic.operations import Interval
from fedtheory.errors import FedtheoryError, refuse
from fedtheory.models.inference import infer_schema
from fedtheory.schema import fault

DRAWN = 300  # instances of a model that are drawn to infer its schema
LEAST = 20  # least number of these draws that must give an instance


def texts(tree: Any) -> Any:
    """Return plain data with numbers as texts.

    >>> texts({"N": 2, "x": [Fraction(1, 3)]})
    {'N': 2, 'x': ['1/3']}
    """
    if isinstance(tree, dict):
        return {key: texts(value) for key, value in tree.items()}
    if isinstance(tree, (list, tuple)):
        return [texts(value) for value in tree]
    return tree if isinstance(tree, (int, str)) else number(tree)


def number(value: Any) -> Any:
    """Return a number as text for a document: its digits, or for an interval the digits of both
    ends.

    Raises InvalidInput for a value that is not a number.
    """
    if isinstance(value, Interval):
        return [str(end) for end in value.pair]
    try:
        return str(Fraction(value))
    except (TypeError, ValueError, OverflowError):
        refuse("an instance", "must consist of numbers, texts, lists and objects", value)


def schema_of(model: Any) -> Any:
    """Return the schema of a model's instances: the model's own, or else the schema that instances
    built by the model have in common.

    Raises InvalidInput where the model has no schema and builds no instance.
    """
    return _infer_schema(model) if model.schema is None else model.schema


def fault_of(model: Any, instance: Any, read: Callable[[str], Any] | None = None) -> str | None:
    """Return why plain data are no instance of a model, or None where they are one."""
    return fault(schema_of(model), instance, read)


def draw_instance(model: Any, random: Random) -> Any:
    """Return an instance at a random shape and random numbers, as plain data, or None where there
    is no instance at the drawn numbers."""
    relaxed = frozenset(name for name in sorted(model.ensures) if random.random() < 0.5)
    longer = model.longer is not None and random.random() < 0.2
    shape = model.longer(random, relaxed) if longer else None
    shape = model.shapes(random, relaxed) if shape is None else shape
    point = {name: _some(kind, random) for name, kind in model.coordinates(shape).items()}
    try:
        return texts(model.build(shape, point))
    except (FedtheoryError, ArithmeticError):
        return None


def _some(kind: str, random: Random) -> Fraction:
    """Draw a small number of a kind of coordinate. The number is sometimes 0 where the kind
    permits."""
    size = Fraction(random.randint(1, 99), random.randint(1, 99))
    if kind == "unit":
        return random.choice([Fraction(0), Fraction(1), size / (1 + size), size / (1 + size)])
    if kind == "nonnegative":
        return size * random.choice([0, 1, 1])
    return size * random.choice([-1, 1]) if kind == "real" else size


_INFERRED: dict = {}  # name -> (model, its schema)


def _infer_schema(model: Any) -> Any:
    known = _INFERRED.get(model.name)
    if known is None or known[0] is not model:
        _INFERRED[model.name] = known = model, _read_instance(model)
    return known[1]


def _read_instance(model: Any) -> Any:
    found = [draw_instance(model, Random(f"schema/{n}")) for n in range(DRAWN)]
    found = [each for each in found if each is not None]
    if len(found) < LEAST:
        refuse(
            f"the model {model.name}: schema",
            "must be given where the model builds no instances of plain data at most random numbers",
            f"{len(found)} of {DRAWN} tries",
        )
    return infer_schema(found)
